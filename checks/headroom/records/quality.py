"""The closed list of quality measures, and the loss of quality that a claim allows."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pydantic import Field, field_validator

from headroom.records.base import Record


@dataclass(frozen=True, slots=True)
class QualityKind:
    """A quality measure of a run's output."""

    better: Literal["lower", "higher"]
    title: str
    meaning: str
    """How it is computed from the return value of a step, in one sentence."""
    of_output: Callable[[float], float]


def _perplexity(output: float) -> float:
    return math.exp(output) if output < 700 else math.inf  # noqa: PLR2004 - a float ends there


QUALITIES: Mapping[str, QualityKind] = MappingProxyType(
    {
        "loss": QualityKind(
            better="lower",
            title="loss",
            meaning="The loss that the first step returns.",
            of_output=lambda output: output,
        ),
        "perplexity": QualityKind(
            better="lower",
            title="perplexity",
            meaning="The exponential of the mean loss, in nats per token, that the first step returns.",
            of_output=_perplexity,
        ),
        "accuracy": QualityKind(
            better="higher",
            title="accuracy",
            meaning="The share of correct answers that the first step returns.",
            of_output=lambda output: output,
        ),
    }
)


class GivesUp(Record):
    """The quality that a gain costs, and the largest loss that is allowed."""

    quality: str
    """A name from the closed list in ``headroom.records.quality``."""
    at_most: float = Field(gt=0, le=0.5)
    """The largest relative loss of the subject against the baseline of the same block. Any gain is allowed."""

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
        """Return the relative loss of quality against the baseline; negative if the other arm is better."""
        of = self.kind.of_output
        worse = of(other) - of(baseline) if self.kind.better == "lower" else of(baseline) - of(other)
        return worse / abs(of(baseline)) if of(baseline) else math.copysign(math.inf, worse) if worse else 0.0
