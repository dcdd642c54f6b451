"""The metrics that the harness can measure: a closed list, so that two claims mean the same by the same word."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from headroom.maths.units import UNITS


@dataclass(frozen=True, slots=True)
class MetricKind:
    """What a metric is, whoever measures it."""

    unit: str
    better: Literal["lower", "higher"]
    exact: bool
    """Whether it is nearly deterministic, so that arms are compared exactly and not through noise."""
    title: str
    """Its name on a page."""
    meaning: str
    """What is counted, in one sentence."""

    @property
    def timed(self) -> bool:
        """Whether it is a time, or a rate that is made from one: then it depends on what else the machine does."""
        return UNITS[self.unit][0] in ("time", "rate")


METRICS: Mapping[str, MetricKind] = MappingProxyType(
    {
        "step_time": MetricKind(
            unit="s",
            better="lower",
            exact=False,
            title="time of a step",
            meaning="Wall-clock seconds of one step, the device synchronised after it.",
        ),
        "first_step_time": MetricKind(
            unit="s",
            better="lower",
            exact=False,
            title="time of the first step",
            meaning="Wall-clock seconds of a process's first step, with all that is compiled, tuned or allocated once.",
        ),
        "throughput": MetricKind(
            unit="tokens/s",
            better="higher",
            exact=False,
            title="throughput",
            meaning="Tokens of one step divided by the seconds that it took.",
        ),
        "saved_for_backward": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="memory kept for backward",
            meaning="Bytes that the forward pass has allocated and not freed when the backward pass starts.",
        ),
        "peak_allocated": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="peak memory",
            meaning="Highest number of bytes that torch's allocator had given out at once during the second step.",
        ),
        "peak_reserved": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="peak reserved",
            meaning="Highest number of bytes that torch's CUDA allocator held during the second step.",
        ),
        "peak_rss": MetricKind(
            unit="B",
            better="lower",
            exact=False,
            title="peak of the process",
            meaning="Highest resident set of the whole process, libraries included.",
        ),
    }
)
