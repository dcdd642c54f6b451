"""Sum the log of a traced run: the largest live memory of each phase, and what it consists of."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

from headroom.memory.tracing.live_storages import Log, Moment, Storage
from headroom.memory.tracing.models import TraceSettings
from headroom.memory.tracing.step import trace_log

BLOCK = 512
"""Bytes to which CUDA's caching allocator rounds every allocation (c10/cuda/CUDACachingAllocator.h, kMinBlockSize)."""


@dataclass(frozen=True, slots=True)
class TracedPeak:
    """The largest live memory of a phase, in bytes, by category."""

    phase: str
    region: str
    operation: str
    parts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Return the bytes of all categories together."""
        return sum(self.parts.values())


def rounded(nbytes: int) -> int:
    """Return the bytes that CUDA's caching allocator takes for an allocation."""
    return -(-nbytes // BLOCK) * BLOCK


def _category(storage: Storage) -> str:
    if storage.category != "temporary":
        return storage.category
    return "saved activations" if storage.phase.startswith("forward") else "temporaries"


def peaks(log: Log) -> dict[str, TracedPeak]:
    """Return the peak of each phase of a log, in the order of the phases."""
    live: Counter[str] = Counter()
    known: dict[int, tuple[str, int]] = {}
    found: dict[str, TracedPeak] = {}
    total = 0
    for event in log.events:
        if isinstance(event, Storage):
            known[event.number] = (_category(event), rounded(event.nbytes))
            live[_category(event)] += rounded(event.nbytes)
            total += rounded(event.nbytes)
        elif isinstance(event, int):
            category, size = known.pop(event)
            live[category] -= size
            total -= size
        elif isinstance(event, Moment):
            before = found.get(event.phase)
            if before is None or total > before.total:
                found[event.phase] = TracedPeak(event.phase, event.region, event.operation, dict(+live))
        else:
            _, number, category, _ = event
            old, size = known[number]
            live[old] -= size
            live[category] += size
            known[number] = (category, size)
    return found


def trace(config: Any, settings: TraceSettings) -> dict[str, TracedPeak]:
    """Return the peak memory of each phase of a job, traced under fake tensors.

    Args:
        config: a transformers configuration; its model is built without data.
        settings: the job and its sizes.

    Raises:
        ValueError: transformers has no such model, or the job cannot be traced.
    """
    try:
        log, _ = trace_log(config, settings)
    except (DataDependentOutputException, DynamicOutputShapeException) as error:
        fault = (
            f"{config.model_type}: the model's code reads the values of a tensor ({error}), which a trace does not have"
        )
        remedy = "add --device cpu --measure, or run a step on a GPU and read torch.cuda.max_memory_allocated()"
        raise ValueError(f"{fault}; {remedy}") from error
    except ValueError:
        raise  # it says already what to do
    except Exception as error:  # whatever the model's code raises for this configuration or these sizes
        fault = " ".join(str(error).split())[:300]
        remedy = "correct the configuration or the sizes, or run a step on a GPU"
        raise ValueError(
            f"{config.model_type}: the model's code fails: {type(error).__name__}: {fault}; {remedy}"
        ) from error
    return peaks(log)
