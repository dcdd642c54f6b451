"""Compute the estimates of recorded steps and published rows again."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate
from headroom.memory.published_jobs import estimate_row
from headroom.memory.validation import ModelSize, ValidationRow, usable_rows
from headroom.records.memory_errors import JudgedStep, PublishedStep, TracedStep
from headroom.records.memory_rows import MemoryTable
from headroom.records.model_shapes import ModelShape

PHASES = {
    "forward": "forward",
    "start of backward": "backward",
    "end of backward": "backward",
    "optimizer step": "optimizer",
    "evaluation": "evaluate",
    "prefill": "prefill",
    "decode": "decode",
}
"""The phases of an estimate by those of a trace."""


def estimated_parts(found: Estimate) -> dict[str, int]:
    """Return the bytes of an estimate under the names of a trace: phases, peak and weights."""
    parts = {"peak": found.peak}
    for moment in found.phases:
        name = PHASES[moment.phase]
        parts[name] = max(parts.get(name, 0), moment.bytes)
        sizes = {each.name: each.bytes for each in moment.components}
        parts["weights"] = max(parts.get("weights", 0), sizes.get("weights", 0) + sizes.get("adapters", 0))
    return parts


def estimated_again(step: TracedStep, root: Path) -> dict[str, int]:
    """Return the estimate of a traced step with today's coefficients.

    Raises:
        EstimateError: there is no estimate of this job.
    """
    options: dict[str, Any] = dict(step.job)
    return estimated_parts(estimate(step.model, root=root, **options))


def sized(tables: Iterable[MemoryTable], shapes: Mapping[str, ModelShape]) -> Iterator[ValidationRow]:
    """Yield the usable published rows with the sizes of their models."""

    def size(name: str) -> ModelSize | None:
        shape = shapes.get(name)
        return ModelSize(shape.config, int(shape.parameters.value)) if shape else None

    return usable_rows(tables, size)


def published_steps(rows: Iterable[ValidationRow], root: Path) -> Iterator[PublishedStep]:
    """Yield the estimate of each published row with a figure that the estimator models."""
    for row in (each for each in rows if each.row.measured):
        try:
            found = estimate_row(row, root)
        except EstimateError:
            continue
        yield _published(row, found)


def _published(row: ValidationRow, found: Estimate) -> PublishedStep:
    process = [each.bytes for each in row.row.measured if each.counts == "process"]
    low, high = found.needed
    return PublishedStep(
        table=row.table,
        row=row.row.id,
        model=str(row.row.model),
        kind=str(row.conditions.kind),
        gpus=found.job.layout.gpus,
        counts=row.measured.counts,
        measured=round(row.measured.bytes),
        estimated=found.peak,
        process=round(process[0]) if process else None,
        low=low,
        high=high,
    )


def judged_steps(rows: Iterable[ValidationRow], root: Path) -> Iterator[JudgedStep]:
    """Yield the estimate of each published row that the estimator models, if its card is recorded."""
    for row in rows:
        if not row.card:
            continue
        try:
            found = estimate_row(row, root)
        except EstimateError:
            continue
        yield JudgedStep(
            table=row.table,
            row=row.row.id,
            card=row.card,
            gpus=found.job.layout.gpus,
            outcome=row.row.outcome,
            estimated=found.peak,
            low=found.needed[0],
            high=found.needed[1],
        )
