"""The closed list of metrics that the harness can measure, each with its unit, direction and meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from headroom.maths.units import UNITS


@dataclass(frozen=True, slots=True)
class MetricKind:
    """The definition of a metric."""

    unit: str
    better: Literal["lower", "higher"]
    exact: bool
    """Whether it is nearly deterministic, so that arms are compared exactly and without a noise model."""
    title: str
    """The name of the metric on pages."""
    meaning: str
    """The definition, in one sentence."""

    @property
    def timed(self) -> bool:
        """Whether it is a time or a rate, and therefore depends on the load of the machine."""
        return UNITS[self.unit][0] in ("time", "rate")


METRICS: Mapping[str, MetricKind] = MappingProxyType(
    {
        "step_time": MetricKind(
            unit="s",
            better="lower",
            exact=False,
            title="step time",
            meaning="Wall-clock seconds of one step, including a synchronisation of the device after it.",
        ),
        "first_step_time": MetricKind(
            unit="s",
            better="lower",
            exact=False,
            title="first-step time",
            meaning="Wall-clock seconds of a process's first step, including one-time compilation and allocation.",
        ),
        "throughput": MetricKind(
            unit="tokens/s",
            better="higher",
            exact=False,
            title="throughput",
            meaning="Tokens of one step divided by its wall-clock seconds.",
        ),
        "saved_for_backward": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="saved-activation memory",
            meaning="Bytes that the forward pass has allocated and not freed when the backward pass starts.",
        ),
        "peak_allocated": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="peak memory",
            meaning="Highest number of bytes that torch's allocator had allocated at once during the second step.",
        ),
        "peak_reserved": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="peak reserved memory",
            meaning="Highest number of bytes that torch's CUDA allocator reserved during the second step.",
        ),
        "peak_rss": MetricKind(
            unit="B",
            better="lower",
            exact=False,
            title="peak process memory",
            meaning="Highest resident set size of the whole process, including its libraries.",
        ),
        "bytes_sent": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="bytes sent",
            meaning="Bytes that a rank sends in one step by the ring algorithm, from the counted payloads of its "
            "collectives; the mean over the ranks.",
        ),
        "collectives": MetricKind(
            unit="1",
            better="lower",
            exact=True,
            title="collective calls",
            meaning="Collective calls of a rank in one step, the mean over the ranks.",
        ),
        "wire_bytes": MetricKind(
            unit="B",
            better="lower",
            exact=True,
            title="bytes on the wire",
            meaning="Bytes that one step sends over the network device, with headers, divided by the ranks.",
        ),
    }
)
