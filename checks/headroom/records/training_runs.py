"""Published speeds of training runs, with the layout of each run in the planner's words."""

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field, model_validator

from headroom.records.base import Record, Slug, Text
from headroom.records.memory_rows import ModelId
from headroom.records.published_comparisons import Origin, Software, Stated

Count = Annotated[int, Field(ge=1, le=2**31)]
Positive = Annotated[float, Field(gt=0, le=1e9)]
_NEEDED = ("precision", "length", "batch", "recompute", "kernels", "strategy", "gradient_bytes")
MOST_ROWS = 400
FOLDER = "checks/published/training"


class DecoderSizes(Record):
    """The sizes of a decoder that has no record in checks/facts/models/."""

    title: Text
    source: Text
    """The file and line that states the sizes."""
    hidden: Count
    layers: Count
    heads: Count
    key_value_heads: Count
    intermediate: Count
    mlp_matmuls: Literal[2, 3]
    """3 with a gate, as in SwiGLU; else 2."""
    vocabulary: Count


class RunCluster(Record):
    """The GPUs and links of a table's runs."""

    accelerator: Slug
    """The id in checks/facts/accelerators/."""
    gpus_per_node: Count
    """The GPUs that NVLink joins."""
    network: Positive
    """GB/s per GPU and direction between nodes."""
    network_source: Text
    """Who states the network, or that it is assumed."""
    bandwidth: Positive | None = None
    """GB/s of the memory, if it differs from the accelerator's record."""
    watts: Positive | None = None
    """The power limit, if it differs from the accelerator's record."""


class RunSettings(Record):
    """The settings of a run. A field that is null is taken from the table."""

    precision: Literal["bf16", "fp8"] | None = None
    """The format of the matmuls of layers."""
    length: Count | None = None
    """Tokens per sequence."""
    batch: Count | None = None
    """Sequences per data-parallel rank and micro-batch."""
    accumulation: Count = 1
    """Micro-batches per optimizer step."""
    recompute: Annotated[float, Field(ge=0, le=1)] | None = None
    """The part of the layers' forward pass that runs again: 0 without activation checkpointing, 1 with full."""
    kernels: Literal["eager", "fused"] | None = None
    """``fused`` with torch.compile or Transformer Engine."""
    strategy: Literal["ddp", "zero1", "zero2", "fsdp", "hsdp"] | None = None
    shard: Count | None = None
    """With hsdp, the GPUs that divide one copy of the weights."""
    gradient_bytes: Literal[2, 4] | None = None
    """Bytes per element in which gradients are reduced."""
    tensor: Count = 1
    pipeline: Count = 1
    interleave: Count = 1
    """Model chunks per pipeline rank."""
    context: Count = 1
    expert: Count = 1
    tensor_overlap: bool = False
    """Whether communication of tensor parallelism runs next to matmuls: async TP, or Megatron's ``tp-comm-overlap``."""


class TrainingRun(Record):
    """One published run."""

    id: Slug
    locator: Text
    """The row or line in the source's file."""
    model: ModelId
    """A key of the table's ``models``, or the id of a model shape."""
    gpus: Count
    tokens_per_second: Positive
    """Tokens per second and GPU, as printed."""
    settings: RunSettings = RunSettings()
    """The settings in which the row differs from the table's."""
    use: Literal["fitted", "seen", "blind"] = "seen"
    """``fitted``: the constants of the step-time model are fitted on it. ``seen``: its error was in view while the
    model's form was chosen. ``blind``: it was added when form and constants were fixed."""
    deviation: Text | None = None
    """What the model does not know of this run."""


class RunTable(Record):
    """The runs of one source on one kind of cluster: a file of checks/published/training/."""

    id: Slug
    """The name of its file."""
    source: Origin
    cluster: RunCluster
    software: Software
    common: RunSettings
    """The settings of all rows."""
    models: dict[ModelId, DecoderSizes] = Field(default_factory=dict)
    conditions: tuple[Stated, ...] = Field(min_length=1)
    """Where the source states the settings."""
    unknown: tuple[Text, ...] = Field(min_length=1)
    """What the source does not say and could change the speeds."""
    rows: tuple[TrainingRun, ...] = Field(min_length=1, max_length=MOST_ROWS)

    @model_validator(mode="after")
    def _rows_are_complete(self) -> "RunTable":
        name, count = Counter(row.id for row in self.rows).most_common(1)[0]
        if count > 1:
            raise ValueError(f"{count} rows have the id `{name}`; give each row its own")
        for row in self.rows:
            self._check(row)
        if self.source.measured_until > self.source.retrieved:
            raise ValueError("the speeds were retrieved before they were measured; correct a date")
        return self

    def _check(self, row: TrainingRun) -> None:
        found = self.settings(row)
        missing = [name for name in _NEEDED if getattr(found, name) is None]
        if missing:
            raise ValueError(f"the row `{row.id}` lacks {', '.join(missing)}; add it to the row or to `common`")
        ranks = found.tensor * found.pipeline * found.context
        if row.gpus % ranks:
            raise ValueError(f"the row `{row.id}` has {row.gpus} GPUs for a layout over {ranks}; correct one")

    def settings(self, row: TrainingRun) -> RunSettings:
        """Return the settings of a row: the table's, replaced by those that the row states itself."""
        return RunSettings(**{**_written(self.common), **_written(row.settings)})


def _written(settings: RunSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.model_fields_set}
