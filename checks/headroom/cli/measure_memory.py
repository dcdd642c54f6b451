"""Measure the memory of a step that estimates are compared with, in a process of its own, and write its record."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headroom import environment
from headroom.environment import MachineState
from headroom.io import atomic_write
from headroom.records.evidence import Environment
from headroom.records.memory_errors import ComparedStep, MeasuredStep, MemoryErrors, step_path
from headroom.records.paths import record_text

LONGEST_SECONDS = 300.0


class StepError(RuntimeError):
    """A step that gave no result; the message has the reason."""


def in_words(step: ComparedStep) -> str:
    """Return the job of a step: ``precision bf16, batch 4, length 2048``."""
    return ", ".join(f"{name} {value}" for name, value in step.job.items())


@dataclass(frozen=True, slots=True)
class LentMachine:
    """The machine that measures, and where its records are written."""

    machine: MachineState
    hardware: str
    """Its hardware class."""
    today: str
    root: Path
    run: Callable[..., Any]
    """The ``run`` method of a ``ForkServer``."""

    def record(self, step: ComparedStep, seconds: float) -> Path:
        """Measure a step within some seconds, and return the path of its record.

        Raises:
            StepError: the process failed, for example because the GPU has too little memory.
            UnwritableError: the file cannot be written.
        """
        found = MemoryErrors(
            versions={name: version(name) for name in ("torch", "transformers", "peft")},
            machine=self.machine.product,
            date=self.today,
            hardware_class=self.hardware,
            environment=Environment(**asdict(self.machine)),
            measured=(self._measured(step, seconds),),
        )
        path = self.root / step_path(self.hardware, step)
        atomic_write.add(path, record_text(found))
        return path

    def _measured(self, step: ComparedStep, seconds: float) -> MeasuredStep:
        with tempfile.TemporaryDirectory() as folder:
            result, limit = Path(folder) / "step.json", environment.memory_bytes() * 9 // 10
            asked = (step.model_dump_json(), self.machine.device, str(self.root.resolve()), str(result))
            timeout = min(seconds, LONGEST_SECONDS)
            outcome = self.run(work, *asked, timeout=timeout, memory_limit=limit, cwd=Path(folder))
            if result.exists():
                return MeasuredStep.model_validate_json(result.read_text("utf-8"))
        last = (outcome.stderr.strip().splitlines() or ["its process failed without a message"])[-1]
        reason = f"it took longer than {timeout:.0f} s" if outcome.timed_out else last
        raise StepError(f"the memory of {step.model}, {in_words(step)}, was not measured: {reason}")


def work(step: str, device: str, root: str, result: str) -> None:
    """Measure and trace a step; called in the measuring process, the only one that imports torch."""
    from headroom.execution.benchmark_run import MemoryMeter  # noqa: PLC0415 - imports torch
    from headroom.memory.tracing.grid import measured_step  # noqa: PLC0415 - imports torch

    found = measured_step(ComparedStep.model_validate_json(step), Path(root), device, MemoryMeter)
    atomic_write.write_atomic(Path(result), found.model_dump_json())
