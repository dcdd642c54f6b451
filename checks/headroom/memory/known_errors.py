"""What is known of the error of an estimate: the recorded errors of estimates of the same kind of job."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from headroom.memory.job import INFERENCE, Job
from headroom.memory.percentiles import percentile
from headroom.records.data_root import data_root
from headroom.records.memory_errors import MemoryErrors, errors_of

Comparison = Literal["published", "traced"]
_ROWS = {"published": "published row", "traced": "traced step"}
_Key = tuple[Comparison, str, bool]
"""The comparison, the kind of job, and whether it is on several GPUs."""


class _Compared(NamedTuple):
    """The error of one estimate in percent, the model, and its GPUs."""

    error: float
    model: str
    gpus: int


@dataclass(frozen=True, slots=True)
class KnownError:
    """The errors of the estimated peaks of one kind of job.

    Attributes:
        comparison: ``published`` for peaks that others measured on GPUs; ``traced`` if there is none of this kind, for
            steps that were traced without a GPU.
        kind: full, an adapter, or inference.
        median: the median of the absolute errors in percent.
        high: their 95th percentile.
        largest: the signed error with the largest absolute value; negative if the estimate is too low.
        count: the number of compared peaks.
        models: the models of the compared peaks.
        gpus: the largest number of GPUs among them.
    """

    comparison: Comparison
    kind: str
    median: float
    high: float
    largest: float
    count: int
    models: tuple[str, ...]
    gpus: int

    @property
    def words(self) -> str:
        """Return the error in words: the largest one, and then the median, both rounded up to a tenth."""
        rows = f"{self.count} {_ROWS[self.comparison]}{'s' * (self.count > 1)} of this kind"
        error, middle = (f"{ceil(round(10 * size, 6)) / 10:.1f} %" for size in (abs(self.largest), self.median))
        where = "on" if self.comparison == "published" else "against"
        found = f"±{error} {where} {rows} (median {middle}, largest {signed(self.largest)} %)"
        return found if self.comparison == "published" else f"not compared with a GPU; {found}"


def signed(number: float) -> str:
    """Return a number with its sign and one decimal."""
    return f"{number:+.1f}".replace("-", "−")


def in_words(known: KnownError | None) -> str:
    """Return a known error in words, or why none is known."""
    return known.words if known else "unknown, because no published row and no traced step is of this kind"


def percent(estimated: float, actual: float) -> float:
    """Return the signed error in percent; negative if the estimate is too low."""
    return 100 * (estimated / actual - 1)


def known_error(job: Job, root: Path | str | None = None) -> KnownError | None:
    """Return the known error of estimates of this kind of job; None if nothing of this kind was compared.

    On one GPU, published peaks of the kind are compared, or else traced steps. The rows on several GPUs are of FSDP
    alone, so other layouts and combinations have no known error. No compared inference has quantized weights.

    Args:
        job: the job that is estimated.
        root: the project's folder, with checks/memory-errors/; by default, see ``data_root``.
    """
    layout, errors = job.layout, _known_errors(data_root(root).resolve())
    if layout.weight_shards < layout.gpus or layout.context > 1 or layout.expert > 1:
        return None
    if job.weight_format and not job.training:
        return None
    several = layout.gpus > 1
    return errors.get(("published", _kind(job.job), several)) or errors.get(("traced", _kind(job.job), several))


def _kind(job: str) -> str:
    return "inference" if job in INFERENCE else job


@lru_cache(maxsize=4)
def _known_errors(root: Path) -> dict[_Key, KnownError]:
    found: dict[_Key, list[_Compared]] = {}
    for record in errors_of(root).values():
        for key, compared in _errors(record):
            found.setdefault(key, []).append(compared)
    return {key: _summary(key, compared) for key, compared in found.items()}


def _errors(record: MemoryErrors) -> Iterator[tuple[_Key, _Compared]]:
    for row in record.published:
        key: _Key = ("published", _kind(row.kind), row.gpus > 1)
        yield key, _Compared(percent(row.estimated, row.measured), row.model, row.gpus)
    for step in record.traced:
        if step.estimated:
            key = ("traced", _kind(str(step.job.get("job", "full"))), False)
            yield key, _Compared(percent(step.estimated["peak"], step.traced["peak"]), step.model, 1)


def _summary(key: _Key, compared: list[_Compared]) -> KnownError:
    errors = [each.error for each in compared]
    sizes = [abs(each) for each in errors]
    return KnownError(
        comparison=key[0],
        kind=key[1],
        median=median(sizes),
        high=percentile(sizes, 0.95),
        largest=max(errors, key=abs),
        count=len(errors),
        models=tuple(sorted({each.model for each in compared})),
        gpus=max(each.gpus for each in compared),
    )
