"""Published GPU memory: what others measured, with the conditions of each run in the memory estimator's words."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from headroom.maths.units import convert
from headroom.records.base import Record, Slug, Text
from headroom.records.published_comparisons import Origin, Software, Stated

Count = Annotated[int, Field(ge=1, le=2**31)]
Module = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=60)]
"""The name of a linear layer, as transformers names it."""
ModelId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$", max_length=60)]
"""The id of a model shape, as ``llama-3.2-3b``."""
_NEEDED = ("kind", "precision", "batch", "length", "checkpointing", "loss", "compiled", "implementation")
_TRAINING = ("optimizer", "accumulation")
_ADAPTERS = ("adapter_rank", "adapter_targets")
_WITH_ADAPTERS = ("lora", "qlora", "dora")


class MemoryLayout(Record):
    """How many ranks share the work, and what each rank holds of the model."""

    data: Count = 1
    """Ranks with different batches, including the ranks that shard the model."""
    tensor: Count = 1
    pipeline: Count = 1
    context: Count = 1
    sharding: Literal["none", "zero-1", "zero-2", "zero-3", "fsdp"] = "none"

    @property
    def ranks(self) -> int:
        """Return the number of devices."""
        return self.data * self.tensor * self.pipeline * self.context


class MemoryJob(Record):
    """The conditions of a run. A field that is null is not stated by the source."""

    kind: Literal["full", "lora", "qlora", "dora", "other-adapter", "forward", "prefill", "decode"] | None = None
    """What runs: full fine-tuning, training of adapters, one layer, or inference."""
    precision: Literal["bf16", "autocast", "fp32", "fp16", "bf16-autocast", "fp16-autocast", "float8"] | None = None
    """bf16, fp16 and fp32 are weights without autocast; autocast has fp32 weights."""
    optimizer: Slug | None = None
    """The value of transformers' ``optim`` with dashes, as ``adamw-torch``."""
    optimizer_form: Literal["foreach", "fused", "loop", "in-backward"] | None = None
    batch: Count | None = None
    """Sequences per device and micro-batch."""
    length: Count | None = None
    """Tokens per sequence: of every sequence if ``packed``, of the longest one otherwise."""
    packed: bool | None = None
    """Whether every sequence has exactly ``length`` tokens."""
    accumulation: Count | None = None
    checkpointing: Literal["none", "full", "selective"] | None = None
    attention: Literal["sdpa", "eager", "flash"] | None = None
    loss: Literal["whole", "whole-upcast-copy", "whole-shift-copy", "chunked", "fused"] | None = None
    """``whole-upcast-copy``: whole logits, copied in fp32 to shift them, as in transformers 4.48; ``whole-shift-copy``:
    the same without the bf16 logits, as in transformers 4.45."""
    chunk: Count | None = None
    """Tokens of a sequence in one chunk of a chunked loss."""
    adapter_rank: Count | None = None
    adapter_targets: tuple[Module, ...] | None = None
    adapter_dropout: Annotated[float, Field(ge=0, lt=1)] | None = None
    adapter_dtype: Literal["fp32", "bf16"] | None = None
    quantization: Literal["nf4", "nf4-double", "gptq", "int8"] | None = None
    layout: MemoryLayout | None = None
    """Null for one device."""
    compiled: bool | None = None
    offload: Text | None = None
    """What is in CPU memory instead of on the device."""
    quantized_experts: bool | None = None
    """Whether each expert has linear layers, which are quantized; null for a model without experts."""
    saved_inputs: bool | None = None
    """Whether 4-bit layers save their inputs, as bitsandbytes before 0.43.2 did."""
    reentrant: bool | None = None
    """Whether activation checkpoints are reentrant."""
    implementation: Slug | None = None
    """The library whose model code ran, as ``transformers`` or ``litgpt``."""

    def missing(self) -> tuple[str, ...]:
        """Return the fields that a prediction needs and the source does not state."""
        training = _TRAINING if self.kind in ("full", *_WITH_ADAPTERS) else ()
        adapters = _ADAPTERS if self.kind in _WITH_ADAPTERS else ()
        return tuple(name for name in (*_NEEDED, *training, *adapters) if getattr(self, name) is None)


class MeasuredMemory(Record):
    """One figure of a run."""

    counts: Literal["allocated", "active", "reserved", "process"]
    """Peak of: PyTorch's allocated or active blocks, its reserved memory, or the device's used memory."""
    value: float = Field(gt=0)
    unit: Literal["B", "MB", "GB", "MiB", "GiB"]

    @property
    def bytes(self) -> float:
        """Return the figure in bytes."""
        return convert(self.value, self.unit, "B")


class MemoryRow(Record):
    """One published run."""

    id: Slug
    locator: Text
    """The row or the line in the source's file."""
    model: ModelId | None = None
    """The id of a model shape; null for a single layer or a model without a shape."""
    job: MemoryJob = MemoryJob()
    """The conditions in which the row differs from the table's."""
    outcome: Literal["ran", "out-of-memory"] = "ran"
    """Whether the job ran on the card, or ended because the card's memory did not suffice."""
    measured: tuple[MeasuredMemory, ...] = ()
    """The figures of a job that ran."""
    usable: bool
    """Whether the stated conditions suffice for a prediction."""
    reason: Text | None = None
    """Why the row is not usable."""
    deviation: Text | None = None
    """What the estimate does not model of this run, if its error exceeds 15 %."""

    @model_validator(mode="after")
    def _has_one_verdict(self) -> "MemoryRow":
        if self.usable is (self.reason is not None):
            raise ValueError(f"the row `{self.id}` is usable or has a reason; add or remove `reason`")
        if bool(self.measured) is not (self.outcome == "ran"):
            raise ValueError(f"the row `{self.id}` has a figure if it ran; add or remove `measured` or `outcome`")
        return self


class MemoryCard(Record):
    """The device as the source states it."""

    product: Text
    short: Slug
    card: Slug | None = None
    """The id of the card in checks/facts/cards.yml."""
    stated_by: Text


class MemoryTable(Record):
    """The rows of one source that share its conditions: a file of checks/published/memory/."""

    id: Slug
    """The name of its file."""
    source: Origin
    card: MemoryCard
    software: Software
    code_read: Text
    """The place in the source's code that shows what the figures count."""
    common: MemoryJob
    """The conditions of all rows."""
    conditions: tuple[Stated, ...] = Field(min_length=1)
    """Where the source states each condition."""
    unknown: tuple[Text, ...] = Field(min_length=1)
    """What the source does not say and could change the figures."""
    rows: tuple[MemoryRow, ...] = Field(min_length=1, max_length=400)

    @model_validator(mode="after")
    def _rows_are_complete(self) -> "MemoryTable":
        name, count = Counter(row.id for row in self.rows).most_common(1)[0]
        if count > 1:
            raise ValueError(f"{count} rows have the id `{name}`; give each row its own")
        for row in self.rows:
            missing = ", ".join([*self.job(row).missing(), *([] if row.model else ["model"])])
            if row.usable and missing:
                raise ValueError(f"the usable row `{row.id}` lacks {missing}; add it, or write why it is not usable")
        if self.source.measured_until > self.source.retrieved:
            raise ValueError("the figures were retrieved before they were measured; correct a date")
        return self

    def job(self, row: MemoryRow) -> MemoryJob:
        """Return the conditions of a row: the table's, replaced by those that the row states itself."""
        return MemoryJob(**{**_written(self.common), **_written(row.job)})


def _written(job: MemoryJob) -> dict[str, object]:
    return {name: getattr(job, name) for name in job.model_fields_set}
