"""A cluster: what its GPUs compute, read and send per second, from the accelerators' records."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from headroom.memory.errors import EstimateError
from headroom.records.accelerators import Accelerator, Bandwidth, Family, Link, Power

FORMATS = ("bf16", "fp8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """GPUs and links.

    Attributes:
        accelerator: the id of the GPU in checks/facts/accelerators/.
        gpus: the number of GPUs.
        gpus_per_node: the GPUs that the fast link joins.
        peaks: dense peak FLOP/s by format.
        rates: FLOP/s of the best dense matmul that somebody measured, by format; else the family's share of the peak.
        memory: bytes per second of the GPU's memory.
        link: bytes per second, GPU and direction inside of a node.
        network: bytes per second, GPU and direction between nodes.
    """

    accelerator: str
    gpus: int
    gpus_per_node: int
    peaks: Mapping[str, float]
    rates: Mapping[str, float]
    memory: float
    link: float
    network: float

    @property
    def nodes(self) -> float:
        """Return the number of nodes, at least one."""
        return max(1.0, self.gpus / self.gpus_per_node)

    def bandwidth(self, members: int, stride: int) -> float:
        """Return bytes per second and GPU of a ring through a group of GPUs.

        A ring leaves a node once, and NCCL runs one ring per network card: the group's members in a node share their
        cards.

        Args:
            members: the GPUs of the group.
            stride: the distance from one member to the next, which is 8 for data parallelism over TP 8.
        """
        if members * stride <= self.gpus_per_node:
            return self.link
        inside = max(1, min(members, self.gpus_per_node // stride))
        return min(self.link, self.network * inside)


def find_accelerator(families: tuple[Family, ...], name: str) -> tuple[Family, Accelerator]:
    """Return an accelerator and its family.

    Raises:
        EstimateError: there is none of this name.
    """
    for family in families:
        if name in family.accelerators:
            return family, family.accelerators[name]
    known = ", ".join(sorted(key for family in families for key in family.accelerators))
    raise EstimateError("card", f"is `{name}`", f"use one of {known}")


def peaks_of(accelerator: Accelerator) -> dict[str, float]:
    """Return the dense peak FLOP/s of one device by format."""
    found = ((name, accelerator.peak(name)) for name in FORMATS)
    return {name: value * 1e12 / accelerator.devices for name, value in found if value}


def rates_of(family: Family, accelerator: Accelerator) -> dict[str, float]:
    """Return the best measured FLOP/s of one device by format, or the family's median share of the peak."""
    rates = {}
    for name, peak in peaks_of(accelerator).items():
        measured = _achieved(accelerator, name)
        rates[name] = measured or peak * _share(family, name)
    return rates


def _achieved(accelerator: Accelerator, name: str) -> float | None:
    found = {str(key): cell.value for key, cell in accelerator.achieved.items()}.get(name)
    return found * 1e12 / accelerator.devices if found else None


def _share(family: Family, name: str) -> float:
    """Return the median share of the peak that matmuls of the family reach; 0.8 where nobody measured it."""
    shares = [
        rate / peaks_of(each)[name]
        for each in family.accelerators.values()
        if name in peaks_of(each) and (rate := _achieved(each, name))
    ]
    return median(shares) if shares else 0.8


def clock_share(accelerator: Accelerator, watts: float | None) -> float:
    """Return the part of the matmul rate that a lower power limit leaves: power grows with the cube of the clock."""
    if watts is None or not isinstance(accelerator.power, Power):
        return 1.0
    return float(min(1.0, (watts / accelerator.power.value) ** (1 / 3)))


def memory_bandwidth(name: str, accelerator: Accelerator) -> float:
    """Return bytes per second of one device's memory.

    Raises:
        EstimateError: the record does not have it.
    """
    if not isinstance(accelerator.bandwidth, Bandwidth):
        raise EstimateError("card", f"{name} has no recorded memory bandwidth", f"add it to the record of {name}")
    return accelerator.bandwidth.value * 1e9 / accelerator.devices


def link_bandwidth(accelerator: Accelerator) -> float | None:
    """Return bytes per second and direction of the GPU's own link, if it has one that joins more than two GPUs."""
    link = accelerator.link
    return link.one_direction * 1e9 if isinstance(link, Link) and link.peers != "one" else None
