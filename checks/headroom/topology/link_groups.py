"""Which GPUs NVLink or XGMI joins, and which pair has the slowest link."""

from dataclasses import dataclass
from itertools import combinations

from headroom.topology.codes import is_fast, rank
from headroom.topology.model import Pair, Topology


@dataclass(frozen=True, slots=True)
class Group:
    """GPUs that NVLink or XGMI joins, directly or through each other; their codes, the fewest links first."""

    members: tuple[str, ...]
    complete: bool
    codes: tuple[str, ...]


def groups(topology: Topology) -> list[Group]:
    """Return the groups of two GPUs or more, in the order of their first GPUs."""
    left = list(topology.gpus)
    found = []
    while left:
        members = [left.pop(0)]
        for one in members:
            near = [other for other in left if is_fast(topology.link(one, other))]
            members += near
            left = [other for other in left if other not in near]
        if len(members) > 1:
            found.append(_group(topology, [gpu for gpu in topology.gpus if gpu in members]))
    return found


def _group(topology: Topology, members: list[str]) -> Group:
    links = [topology.link(one, other) for one, other in combinations(members, 2)]
    codes = sorted({code for code in links if code and is_fast(code)}, key=rank)
    return Group(tuple(members), all(map(is_fast, links)), tuple(codes))


def shape(topology: Topology) -> str:
    """Return the kind of box: one, unknown, view, full, mesh, groups or pcie."""
    if len(topology.gpus) == 1:
        return "one"
    if not topology.links:
        return "unknown"
    if topology.command.endswith("-mp"):
        return "view"
    found = groups(topology)
    if not found:
        return "pcie"
    if len(found[0].members) == len(topology.gpus):
        return "full" if found[0].complete else "mesh"
    return "groups"


def slowest(topology: Topology) -> tuple[str, list[Pair]] | None:
    """Return the slowest code between GPUs and its pairs, or None if no link is known.

    Among equal codes of rocm-smi, a larger weight is slower.
    """
    pairs = topology.gpu_pairs()
    if not pairs:
        return None

    def cost(pair: Pair) -> tuple[int, int]:
        return rank(topology.links[pair]), -topology.weights.get(pair, 0)

    least = min(map(cost, pairs))
    slow = [pair for pair in pairs if cost(pair) == least]
    return topology.links[slow[0]], slow
