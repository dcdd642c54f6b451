"""Facts: hardware classes and figures of hardware and literature, each with its source."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from headroom.environment import MachineState
from headroom.maths.units import UNITS
from headroom.records.base import HubName, IsoDate, Name, Record, Slug, Text, Url
from headroom.records.evidence import Environment


class FactSource(Record):
    """Where a figure is printed."""

    title: Text
    url: Url
    locator: Text
    retrieved: IsoDate


class Match(Record):
    """What a machine must show for its session to count for a class."""

    product: Text | None = None
    power_limit_w: float | None = None
    instruction_sets: tuple[Text, ...] = ()
    without: tuple[Text, ...] = ()
    """Instruction sets that would make it another class."""
    threads: int | None = None


class HardwareClass(Record):
    """Machines that may speak for one another. Two GPU products never share a class."""

    name: Text
    """As a sentence names it: "an H200"."""
    short: Text | None = None
    """As a badge or a cell names it, where there is little room: "H200"."""
    device: Literal["cpu", "cuda"]
    match: Match
    peak_flops: float = Field(gt=0)
    """FLOP/s that no run of the class can exceed, in its fastest format with dense operands."""
    peak_flops_source: Text

    def holds(self, machine: MachineState | Environment) -> bool:
        """Whether a machine belongs to this class."""
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
    """One subject's figures: a file of checks/facts/."""

    id: Slug
    title: Text
    sources: dict[Slug, FactSource]
    figures: dict[Name, FactCell]


class StandIn(Record):
    """A tiny model, of the real one's architecture and data type, that the tests serve under the real name."""

    architecture: Text
    """The class of transformers that the checkpoint names."""
    dtype: Literal["float32", "bfloat16", "float16"]
    config: dict[str, Annotated[int | float, Field(ge=-(2**24), le=2**24)] | Text | bool | list[Text]]


class StandInDataset(Record):
    """A few rows that the tests serve under a data set's real name."""

    config: HubName
    column: Name
    splits: dict[Name, Annotated[int, Field(ge=1, le=10_000)]]
    """Rows a split."""


class StandIns(Record):
    """What the local hub serves: checks/facts/stand-ins.yml."""

    models: dict[HubName, StandIn]
    datasets: dict[HubName, StandInDataset]
