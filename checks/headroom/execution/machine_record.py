"""Measure this machine's peak rates in a separate process, and write them as a machine record."""

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


class MachineBenchmarkError(RuntimeError):
    """The measurement gave no result; the message gives the reason."""


def measure(observed: Observed, hardware_class: str, date: str, run: Callable[..., Any]) -> Machine:
    """Measure this machine.

    Args:
        observed: its hardware and state.
        hardware_class: its hardware class.
        date: today, as YYYY-MM-DD.
        run: the ``run`` method of a ``ForkServer``.

    Raises:
        MachineBenchmarkError: the measuring process has failed.
    """
    request = {"device": observed.device, "memory_bytes": observed.memory_bytes}
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "report.json"
        limit = environment.memory_bytes() * 9 // 10
        outcome = run(work, request, str(result), timeout=TIMEOUT_SECONDS, memory_limit=limit, cwd=Path(folder))
        if not result.exists():
            last = (outcome.stderr.strip().splitlines() or ["its process failed without a message"])[-1]
            reason = f"it took longer than {TIMEOUT_SECONDS:.0f} s" if outcome.timed_out else last
            raise MachineBenchmarkError(f"the machine was not measured: {reason}")
        report: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return Machine(
        harness=harness(),
        date=date,
        hardware_class=hardware_class,
        environment=Environment(**asdict(observed)),
        others_cpu=outcome.others_cpu,
        throttled=environment.slowdowns(observed.device),
        **report,
    )


def work(request: Mapping[str, Any], result: str) -> None:
    """Run the machine benchmark; called in the measuring process, the only one that imports torch."""
    from headroom.execution import machine_benchmark  # noqa: PLC0415 - imports torch

    machine_benchmark.run(request, result)


def keep(machine: Machine, root: Path) -> Path:
    """Add the record to a tree, atomically, and return its path.

    Raises:
        UnwritableError: the file cannot be written.
    """
    text = record_text(machine)
    path = root / machine_path(machine.hardware_class, machine.date, safe_read.sha256(text))
    atomic_write.add(path, text)
    return path


def harness() -> str:
    """Return the version of the harness: that of the package, and a hash of the measuring code."""
    source = (Path(__file__).parent / "machine_benchmark.py").read_text(encoding="utf-8")
    return f"{__version__} ({safe_read.sha256(python_source.syntax_sha256(source))[:12]})"
