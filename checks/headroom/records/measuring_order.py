"""The order in which a lent machine measures: steps of the estimator, the worth of claims, seconds of a run."""

from typing import Annotated, Literal

from pydantic import Field

from headroom.records.base import ClaimId, Name, Record, Text
from headroom.records.memory_errors import ComparedStep

_Positive = Annotated[float, Field(gt=0)]
DEFAULT_WORTH = 1.0
DEFAULT_RUN_SECONDS = 15.0


class Wanted(Record):
    """Claims that are worth more than others, because a reader or a guide needs them."""

    claims: tuple[ClaimId, ...] = Field(min_length=1)
    worth: _Positive
    """How much a result is worth; a claim that is not listed has 1."""
    why: Text


class MemorySteps(Record):
    """The steps whose memory estimates are compared with."""

    seconds: _Positive
    """The seconds of one step, with its trace and the start of its process."""
    steps: tuple[ComparedStep, ...] = Field(min_length=1)
    why: Text


class MeasuringOrder(Record):
    """The content of checks/facts/measuring-order.yml."""

    run_seconds: dict[Name, dict[Literal["cpu", "cuda"], _Positive]] = Field(default_factory=dict)
    """The seconds of one run per benchmark and device. A recorded session replaces them."""
    wanted: tuple[Wanted, ...] = ()
    memory: dict[Literal["cpu", "cuda"], MemorySteps] = Field(default_factory=dict)
    """What a lent machine of a device measures before everything else."""

    def memory_of(self, device: str) -> MemorySteps | None:
        """Return the steps whose memory is measured on a device."""
        return next((steps for name, steps in self.memory.items() if name == device), None)

    def worth(self, claim: str) -> float:
        """Return the worth of a claim."""
        return max((each.worth for each in self.wanted if claim in each.claims), default=DEFAULT_WORTH)

    def seconds(self, benchmark: str, device: str) -> float:
        """Return the declared seconds of one run."""
        declared = self.run_seconds.get(benchmark, {})
        return next((seconds for name, seconds in declared.items() if name == device), DEFAULT_RUN_SECONDS)
