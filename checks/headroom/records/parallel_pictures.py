"""The data of pictures of several GPUs: who holds and sends what, schedules, a timeline, a roofline and a mesh.

Formulas and lets are those of ``headroom.records.pictures``. No coordinate and no result is in these files.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from headroom.records.base import Record, Text

Formula = Annotated[str, StringConstraints(min_length=1, max_length=300)]
"""An expression of the picture's lets, a number, or the address of a fact, a claim's figure or an estimate."""
Lets = Annotated[dict[str, Formula | float], Field(max_length=40)]
Component = Literal[
    "weights",
    "optimizer states",
    "gradients",
    "saved activations",
    "hidden states",
    "KV cache",
    "logits",
    "temporaries",
    "rate",
]
Collective = Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all"]


class Holding(Record):
    """Something that each GPU holds whole (``all``) or its own part of (``own``)."""

    name: Text
    fill: Component
    held: Literal["all", "own"]
    bytes: float = Field(default=0, ge=0, le=64)
    """Bytes per parameter of the whole model; 0 if they do not grow with the parameters."""


class Transfer(Record):
    """A collective, or messages between neighbours: what is sent, when, and how often."""

    by: Collective | Literal["ring", "next", "previous"]
    what: Text
    when: Text
    fill: Component
    of: Text
    """The whole of which each GPU sends a multiple, such as ``gradients``."""
    per: Text
    """How often all transfers with this text happen, such as ``optimizer step``."""
    times: int = Field(default=1, ge=1, le=16)
    among: Literal["all", "shards", "copies"] = "all"
    """With ``shard``: among the GPUs of one copy of the model, or among the same part of all copies."""
    returns: bool = False
    """Whether an all-to-all brings back what an earlier one sent."""


class Parallelism(Record):
    """A kind of parallelism: what each GPU holds, and what it sends to whom."""

    kind: Literal["parallelism"]
    title: Text
    idea: Text
    gpus: int = Field(ge=2, le=4)
    shard: int | None = Field(default=None, ge=2, le=4)
    """The number of GPUs that divide one copy of the model; default: all of them."""
    holds: tuple[Holding, ...]
    sends: tuple[Transfer, ...]

    @model_validator(mode="after")
    def _whole_copies(self) -> Self:
        if self.shard and self.gpus % self.shard:
            raise ValueError(f"{self.gpus} GPUs are not whole copies of {self.shard}; change `gpus` or `shard`")
        return self


class Schedule(Record):
    """A pipeline schedule by its name in the field, and a note on it."""

    schedule: Literal["gpipe", "1f1b", "interleaved", "zbv"]
    name: Text
    note: Text


class PipelineSchedules(Record):
    """Pipeline schedules to scale on one time axis, with the micro-batches whose activations are alive."""

    kind: Literal["pipeline-schedules"]
    title: Text
    stages: int = Field(ge=2, le=4)
    """The number of GPUs."""
    micro_batches: int = Field(ge=2, le=9)
    schedules: tuple[Schedule, ...]


class StepTimeline(Record):
    """Messages and compute of one step of DDP or FSDP over time, a panel per setting."""

    kind: Literal["step-timeline"]
    title: Text
    strategy: Literal["ddp", "fsdp"]
    let: Lets
    panels: dict[Text, Lets]
    """Further lets of each panel, by its title."""
    layers: int = Field(ge=2, le=6)
    gather: Formula = "0"
    """Seconds to all-gather the weights of one layer, with FSDP."""
    reduce: Formula
    """Seconds to all-reduce (DDP) or reduce-scatter (FSDP) the gradients of one layer."""
    forward: Formula
    backward: Formula
    note: Text | None = None


class MeshAxis(Record):
    """One axis of a mesh, the outermost first."""

    name: Text
    size: int = Field(ge=2, le=64)
    sends: Literal["collective", "messages"]
    says: Text
    """What its GPUs divide and send."""


class DeviceMesh(Record):
    """GPUs in nodes, and the groups of each axis of a mesh."""

    kind: Literal["device-mesh"]
    title: Text
    gpus_per_node: int = Field(ge=2, le=8)
    axes: Annotated[tuple[MeshAxis, ...], Field(min_length=2, max_length=3)]

    @model_validator(mode="after")
    def _one_axis_inside_a_node(self) -> Self:
        if self.axes[-1].size != self.gpus_per_node:
            message = f"the last axis has {self.axes[-1].size} GPUs and a node {self.gpus_per_node}"
            raise ValueError(f"{message}; give the axis inside a node the GPUs of one")
        return self


class Split(Record):
    """One way to give the chunks of a sequence to GPUs."""

    name: Text
    note: Text
    order: Literal["contiguous", "zigzag"]


class CausalBalance(Record):
    """The causal attention scores that each GPU computes, for each way to divide a sequence."""

    kind: Literal["causal-balance"]
    title: Text
    gpus: int = Field(ge=2, le=4)
    splits: tuple[Split, ...]
