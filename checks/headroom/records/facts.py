"""Facts with their sources: hardware classes, figures of hardware and literature, and stand-in models and data sets."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from headroom.environment import MachineState
from headroom.maths.units import UNITS
from headroom.records.base import HubName, IsoDate, Name, Record, Slug, Text, Url
from headroom.records.evidence import Environment


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


class HardwareClass(Record):
    """A class of machines with comparable results. Two GPU products never share a class."""

    name: Text
    """The name in a sentence: "an H200"."""
    short: Text | None = None
    """The short name for badges and table cells: "H200"."""
    device: Literal["cpu", "cuda"]
    match: Match
    peak_flops: float = Field(gt=0)
    """The peak FLOP/s of the class, in its fastest format with dense operands."""
    peak_flops_source: Text

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
    unit: Text
    source: Slug
    """A key of the file's sources."""

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str) -> str:
        if unit not in UNITS:
            raise ValueError(f"unknown unit `{unit}`; use one of {', '.join(UNITS)}, or add it to headroom.maths.units")
        return unit


class FactSheet(Record):
    """The figures of one subject: a file of checks/facts/."""

    id: Slug
    title: Text
    sources: dict[Slug, FactSource]
    figures: dict[Name, FactCell]


class StandIn(Record):
    """A tiny model with the architecture and data type of the real one, which the tests serve under its name."""

    architecture: Text
    """The transformers class that the checkpoint names."""
    dtype: Literal["float32", "bfloat16", "float16"]
    config: dict[str, Annotated[int | float, Field(ge=-(2**24), le=2**24)] | Text | bool | list[Text]]


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
