"""Facts with their sources: hardware classes, figures of hardware and literature, and stand-in models and data sets."""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from headroom.environment import MachineState
from headroom.records.base import HubName, IsoDate, Name, Record, Slug, Text, Unit, Url
from headroom.records.evidence import Environment

Format = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
"""A number format in which accelerators compute."""
Confidence = Literal["high", "medium", "low"]
"""How sure a figure is: high for a publisher's own, medium for a rounded or copied one, low for hearsay."""


class FactSource(Record):
    """The source of a figure."""

    title: Text
    url: Url
    locator: Text
    retrieved: IsoDate


class Match(Record):
    """The properties that a machine of a hardware class must have."""

    product: Text | None = None
    power_limit_w: float | None = None
    instruction_sets: tuple[Text, ...] = ()
    without: tuple[Text, ...] = ()
    """Instruction sets that a machine of the class must not have."""
    threads: int | None = None


class Peak(Record):
    """A dense peak rate of an accelerator."""

    accelerator: Slug
    format: Format


class HardwareClass(Record):
    """A class of machines with comparable results. Two GPU products never share a class."""

    name: Text
    """The name in a sentence: "an H200"."""
    short: Text | None = None
    """The short name for badges and table cells: "H200"."""
    device: Literal["cpu", "cuda"]
    match: Match
    peak: Peak | None = None
    """The peak of an accelerator in checks/facts/accelerators/, in the fastest format of its matmuls."""
    peak_flops: float | None = Field(default=None, gt=0)
    """The peak FLOP/s of a class without an accelerator there, in its fastest format with dense operands."""
    peak_flops_source: Text | None = None

    @model_validator(mode="after")
    def _some_peak(self) -> "HardwareClass":
        if self.peak is None and (self.peak_flops is None or self.peak_flops_source is None):
            message = "a class needs `peak`, or `peak_flops` with `peak_flops_source`"
            raise ValueError(f"{message}; name the accelerator and the format, or give the rate and its source")
        return self

    @property
    def roofline(self) -> float:
        """The FLOP/s that no session of the class can exceed."""
        return self.peak_flops or math.inf

    def holds(self, machine: MachineState | Environment) -> bool:
        """Return whether a machine belongs to this class."""
        match, sets = self.match, set(machine.instruction_sets)
        if machine.device != self.device:
            return False
        if self.device == "cuda":
            return machine.product == match.product and machine.power_limit_w == match.power_limit_w
        return (
            set(match.instruction_sets) <= sets and not sets & set(match.without) and machine.threads == match.threads
        )


class FactCell(Record):
    """One figure."""

    value: float
    unit: Unit
    source: Slug
    """A key of the file's sources."""
    confidence: Confidence | None = None
    """How sure the figure is: high for a publisher's own, medium for a rounded or copied one, low for hearsay."""


class FactSheet(Record):
    """The figures of one subject: a file of checks/facts/."""

    id: Slug
    title: Text
    sources: dict[Slug, FactSource]
    figures: dict[Name, FactCell]


_Setting = Annotated[int | float, Field(ge=-(2**24), le=2**24)] | Text | bool | list[Text]


class StandIn(Record):
    """A tiny model with the architecture and data type of the real one, which the tests serve under its name."""

    architecture: Text
    """The transformers class that the checkpoint names."""
    dtype: Literal["float32", "bfloat16", "float16"]
    config: dict[str, _Setting | dict[str, _Setting]]
    """Fields of the configuration; a model of several parts has a mapping for each part, such as ``vision_config``."""


class StandInDataset(Record):
    """A few rows that the tests serve under the name of a real data set."""

    config: HubName
    column: Name
    splits: dict[Name, Annotated[int, Field(ge=1, le=10_000)]]
    """Number of rows per split."""


class StandIns(Record):
    """The models and data sets that the local hub serves: checks/facts/stand-ins.yml."""

    models: dict[HubName, StandIn]
    datasets: dict[HubName, StandInDataset]
