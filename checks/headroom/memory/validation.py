"""Compare predictions of GPU memory with published measurements, ours next to those of other calculators."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, cast

from headroom.memory.calculators import CALCULATORS, Calculator, CalculatorJob
from headroom.records.memory_rows import MeasuredMemory, MemoryJob, MemoryRow, MemoryTable

OURS = "headroom"
_COUNTERS = ("allocated", "active", "reserved", "process")
"""The counters from the one nearest to a prediction of allocated bytes to the farthest."""
_PRECISIONS = {"bf16-autocast": "bf16", "fp16-autocast": "autocast", "float8": "autocast"}
_WEIGHTS: dict[str | None, Any] = {None: None, "nf4": "nf4", "nf4-double": "nf4", "int8": "int8"}
_STAGES = {"none": 0, "zero-1": 1, "zero-2": 2, "zero-3": 3, "fsdp": 3}
_KINDS = ("full", "lora", "qlora", "dora", "prefill", "decode")
_FIELDS = {
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "num_heads"),
    "vocabulary": ("vocab_size",),
}


@dataclass(frozen=True, slots=True)
class ModelSize:
    """What a comparison needs of a model's shape."""

    config: Mapping[str, Any]
    """The fields of the transformers configuration."""
    parameters: int


@dataclass(frozen=True, slots=True)
class ValidationRow:
    """A published run with its conditions and the size of its model."""

    table: str
    row: MemoryRow
    conditions: MemoryJob
    size: ModelSize
    card: str | None = None
    """The id of the card on which the job ran or did not."""

    @property
    def measured(self) -> MeasuredMemory:
        """Return the figure that predictions are compared with: allocated bytes if the source has them."""
        return min(self.row.measured, key=lambda each: _COUNTERS.index(each.counts))


@dataclass(frozen=True, slots=True)
class CalculatorError:
    """The prediction of one calculator for one run."""

    table: str
    row: str
    calculator: str
    measured_bytes: float
    predicted_bytes: float | None
    """None if the calculator does not model the job."""

    @property
    def percent(self) -> float | None:
        """Return the signed error in percent; negative if the prediction is too low."""
        if self.predicted_bytes is None:
            return None
        return 100 * (self.predicted_bytes / self.measured_bytes - 1)


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """The errors of one calculator over all runs."""

    calculator: str
    modelled: int
    """Runs with a prediction."""
    runs: int
    median_percent: float | None
    """The median of the absolute errors."""
    lowest_percent: float | None
    highest_percent: float | None


def usable_rows(tables: Iterable[MemoryTable], size_of: Callable[[str], ModelSize | None]) -> Iterator[ValidationRow]:
    """Yield the usable rows whose model has a size, with their conditions.

    Args:
        tables: the published tables.
        size_of: gives the size of a model by the id of its shape, or None.
    """
    for table in tables:
        for row in table.rows:
            if row.usable and row.model and (size := size_of(row.model)):
                yield ValidationRow(table.id, row, table.job(row), size, table.card.card)


def compare_calculators(
    rows: Iterable[ValidationRow],
    predict: Callable[[ValidationRow], float | None],
    calculators: Mapping[str, Calculator] = CALCULATORS,
) -> list[CalculatorError]:
    """Return the error of our prediction and of each calculator, for each row.

    Args:
        rows: the published runs.
        predict: our estimator; returns bytes of one device, or None for a job that it does not model.
        calculators: the other calculators, by name.
    """
    errors = []
    for row in rows:
        job = calculator_job(row)
        predicted = {OURS: predict(row)}
        predicted |= {name: each.bytes(job) if job else None for name, each in calculators.items()}
        measured = row.measured.bytes
        errors += [CalculatorError(row.table, row.row.id, name, measured, value) for name, value in predicted.items()]
    return errors


def summaries(errors: Iterable[CalculatorError]) -> list[ErrorSummary]:
    """Return the summary of each calculator, in the order of its first error."""
    by_calculator: dict[str, list[float | None]] = {}
    for error in errors:
        by_calculator.setdefault(error.calculator, []).append(error.percent)
    return [_summary(name, percents) for name, percents in by_calculator.items()]


def _summary(name: str, percents: list[float | None]) -> ErrorSummary:
    known = [each for each in percents if each is not None]
    if not known:
        return ErrorSummary(name, 0, len(percents), None, None, None)
    return ErrorSummary(name, len(known), len(percents), median(map(abs, known)), min(known), max(known))


def calculator_job(row: ValidationRow) -> CalculatorJob | None:
    """Return the job in the words of other calculators, or None if they have no such job.

    Raises:
        ValueError: the model's configuration lacks a field.
    """
    job, config = row.conditions, row.size.config
    if (
        job.kind not in _KINDS
        or job.quantization == "gptq"
        or job.precision is None
        or job.batch is None
        or job.length is None
    ):
        return None
    sizes: dict[str, Any] = {name: _field(config, name, fields) for name, fields in _FIELDS.items()}
    return CalculatorJob(
        parameters=row.size.parameters,
        **sizes,
        key_value_heads=config.get("num_key_value_heads") or sizes["heads"],
        intermediate=config.get("intermediate_size") or 4 * sizes["hidden"],
        mlp_linears=2 if config.get("model_type") in ("gpt2", "opt", "gpt_neox", "falcon") else 3,
        kind=cast("Any", job.kind),
        precision=cast("Any", _PRECISIONS.get(job.precision, job.precision)),
        weights=_WEIGHTS[job.quantization],
        batch=job.batch,
        length=job.length,
        **_layout(job),
        checkpointing=job.checkpointing == "full",
        optimizer="adamw" if job.optimizer in ("adamw-torch", "adamw-hf", None) else job.optimizer,
    )


def _field(config: Mapping[str, Any], name: str, fields: tuple[str, ...]) -> int:
    for field in fields:
        if config.get(field):
            return int(config[field])
    raise ValueError(f"the configuration has no {name}; add one of {', '.join(fields)}")


def _layout(job: MemoryJob) -> dict[str, Any]:
    if job.layout is None:
        return {}
    layout = job.layout
    return {
        "ranks": layout.ranks,
        "tensor_ranks": layout.tensor,
        "pipeline_ranks": layout.pipeline,
        "zero_stage": _STAGES[layout.sharding],
    }
