"""Run the step that a trace predicts with real tensors, and measure its memory."""

import gc
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from headroom.memory.tracing.models import TraceSettings
from headroom.memory.tracing.step import TracedRun, batch_loss, device_of


class Meter(Protocol):
    """Measures what a process allocates, from before the model exists."""

    def __enter__(self) -> Any:
        """Start to count allocations."""

    def __exit__(self, *error: object) -> None:
        """Stop to count allocations."""

    def measuring(self) -> AbstractContextManager[None]:
        """Mark the start and the end of the step."""

    def read(self) -> Mapping[str, float]:
        """Return the measured bytes by metric, among them ``peak_allocated``."""


def _step(run: TracedRun) -> None:
    for _ in range(run.settings.accumulation):
        batch_loss(run.model, run.batch, run.settings).backward()
    run.optimizer.step()
    run.optimizer.zero_grad()


def _forward(run: TracedRun) -> None:
    with torch.no_grad(), torch.autocast(device_of(run.batch), torch.bfloat16, enabled=run.settings.autocast):
        run.model(**run.batch)


def measured_peak(config: Any, settings: TraceSettings, meter: Meter) -> int:
    """Return the bytes that the second step of a job holds at its peak, with real tensors on this CPU.

    Args:
        config: a transformers configuration.
        settings: the job; its memory has to fit into this machine's.
        meter: counts the allocations of the process.

    Raises:
        ValueError: the job generates, which is not measured.
    """
    _check(settings)
    with meter:
        run = TracedRun(config, settings)
        work = _step if settings.trains else _forward
        work(run)
        gc.collect()
        with meter.measuring():
            work(run)
    return int(meter.read()["peak_allocated"])


def _check(settings: TraceSettings) -> None:
    if settings.job in ("prefill", "decode"):
        raise ValueError(f"job: {settings.job} is not measured; full, LoRA and evaluate are")


def measured_on_gpu(config: Any, settings: TraceSettings) -> dict[str, int]:
    """Return the peak of the second step of a job on this GPU, in bytes: allocated, reserved and process.

    ``process`` is the used memory of the device after the step, of this process and all others.

    Args:
        config: a transformers configuration.
        settings: the job; its memory has to fit into the GPU's.

    Raises:
        ValueError: there is no GPU, or the job generates.
    """
    _check(settings)
    if not torch.cuda.is_available():
        raise ValueError("--device cuda: this machine has no GPU; use --device cpu")
    with torch.device("cuda"):
        run = TracedRun(config, settings)
        work = _step if settings.trains else _forward
        work(run)
        gc.collect()
        torch.cuda.reset_peak_memory_stats()
        work(run)
    free, whole = torch.cuda.mem_get_info()
    return {
        "measured": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "process": whole - free,
    }
