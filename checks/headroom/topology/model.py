"""A box as its topology text shows it: devices, the link of each pair, and the CPUs next to each GPU."""

from dataclasses import dataclass, field
from itertools import combinations

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the reader did to the text: its key in the wording, and the values of the sentence."""

    key: str
    values: dict[str, object]


@dataclass(frozen=True, slots=True)
class PeerAccess:
    """The statuses of one `topo -p2p` matrix, in both directions, and the capability if the text names it."""

    capability: str
    status: dict[Pair, str]


@dataclass(slots=True)
class Topology:
    """The devices of a box and what is known of each pair; a pair that the text does not show is missing."""

    command: str
    gpus: tuple[str, ...] = ()
    nics: tuple[str, ...] = ()
    links: dict[Pair, str] = field(default_factory=dict)
    cpus: dict[str, str] = field(default_factory=dict)
    numa: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    peers: list[PeerAccess] = field(default_factory=list)
    hops: dict[Pair, int] = field(default_factory=dict)
    weights: dict[Pair, int] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    @property
    def devices(self) -> tuple[str, ...]:
        """The GPUs and then the network cards, in the text's order."""
        return self.gpus + self.nics

    def link(self, one: str, other: str) -> str | None:
        """Return the code of a pair in either order, or None if the text does not show it."""
        return self.links.get((one, other)) or self.links.get((other, one))

    def gpu_pairs(self) -> list[Pair]:
        """Return the pairs of GPUs whose link is known."""
        return [pair for pair in combinations(self.gpus, 2) if pair in self.links]
