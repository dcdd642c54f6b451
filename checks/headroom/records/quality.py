"""Quality: what a subject gives up that does not compute the same as its baseline, from a closed list."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pydantic import Field, field_validator

from headroom.records.base import Record


@dataclass(frozen=True, slots=True)
class QualityKind:
    """A measure of how good the output of a run is."""

    better: Literal["lower", "higher"]
    title: str
    meaning: str
    """How it is worked out from what a run's step returns, in one sentence."""
    of_output: Callable[[float], float]


def _perplexity(output: float) -> float:
    return math.exp(output) if output < 700 else math.inf  # noqa: PLR2004 - a float ends there


QUALITIES: Mapping[str, QualityKind] = MappingProxyType(
    {
        "loss": QualityKind(
            better="lower",
            title="loss",
            meaning="The number that the first step returns, its loss.",
            of_output=lambda output: output,
        ),
        "perplexity": QualityKind(
            better="lower",
            title="perplexity",
            meaning="The exponential of the number that the first step returns, a mean loss in nats a token.",
            of_output=_perplexity,
        ),
        "accuracy": QualityKind(
            better="higher",
            title="accuracy",
            meaning="The number that the first step returns, the share of right answers.",
            of_output=lambda output: output,
        ),
    }
)


class GivesUp(Record):
    """The quality that a gain is paid with, and how much of it at most."""

    quality: str
    """One of the closed list in ``headroom.records.quality``."""
    at_most: float = Field(gt=0, le=0.5)
    """How much worse, relatively, the subject's may be than the baseline's of the same block. Better is no fault."""

    @field_validator("quality")
    @classmethod
    def _known(cls, quality: str) -> str:
        if quality not in QUALITIES:
            raise ValueError(f"unknown quality `{quality}`; use one of {', '.join(QUALITIES)}")
        return quality

    @property
    def kind(self) -> QualityKind:
        """The quality's direction and meaning."""
        return QUALITIES[self.quality]

    def lost(self, baseline: float, other: float) -> float:
        """By how much of the baseline's quality the other's is worse; negative where it is better."""
        of = self.kind.of_output
        worse = of(other) - of(baseline) if self.kind.better == "lower" else of(baseline) - of(other)
        return worse / abs(of(baseline)) if of(baseline) else math.copysign(math.inf, worse) if worse else 0.0
