"""What this machine can do, as a record: it is measured in a process of its own, so that nothing is loaded here."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headroom import __version__, environment
from headroom.environment import MachineState as Observed
from headroom.io import atomic_write, python_source, safe_read
from headroom.records.evidence import Environment
from headroom.records.machines import Machine
from headroom.records.paths import machine_path, record_text

TIMEOUT_SECONDS = 600.0


class RatesError(RuntimeError):
    """The measurement gave no result; the message says why."""


def measure(observed: Observed, hardware_class: str, date: str, run: Callable[..., Any]) -> Machine:
    """Measure this machine.

    Args:
        observed: what it is.
        hardware_class: the class that it belongs to.
        date: today, as YYYY-MM-DD.
        run: a nursery's ``run``.

    Raises:
        RatesError: the process that measures has failed.
    """
    request = {"device": observed.device, "memory_bytes": observed.memory_bytes}
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "report.json"
        limit = environment.memory_bytes() * 9 // 10
        outcome = run(work, request, str(result), timeout=TIMEOUT_SECONDS, memory_limit=limit, cwd=Path(folder))
        if not result.exists():
            last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise RatesError(f"nothing was measured: {'it took too long' if outcome.timed_out else last}")
        report: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return Machine(
        harness=f"{__version__} ({_harness_sha256()[:12]})",
        date=date,
        hardware_class=hardware_class,
        environment=Environment(**asdict(observed)),
        others_cpu=outcome.others_cpu,
        throttled=environment.slowdowns(observed.device),
        **report,
    )


def work(request: Mapping[str, Any], result: str) -> None:
    """What the process of the measurement does: only there is torch loaded."""
    from headroom.execution import machine_benchmark  # noqa: PLC0415 - as just said

    machine_benchmark.run(request, result)


def keep(machine: Machine, root: Path) -> Path:
    """Add the record to a tree, whole or not at all, and return its path.

    Raises:
        UnwritableError: it cannot be written.
    """
    text = record_text(machine)
    path = root / machine_path(machine.hardware_class, machine.date, safe_read.sha256(text))
    atomic_write.add(path, text)
    return path


def _harness_sha256() -> str:
    """A hash of the code that measures."""
    return safe_read.sha256(
        python_source.syntax_sha256((Path(__file__).parent / "machine_benchmark.py").read_text(encoding="utf-8"))
    )
