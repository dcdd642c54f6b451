"""What is wrong or odd about a box, as far as the text shows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from headroom.topology.codes import NEAR, P2P_CODES, is_fast
from headroom.topology.link_groups import Group, groups, shape
from headroom.topology.model import Topology
from headroom.topology.wording import fill, listed

_FEWEST = 3
"""So many GPUs with NVLink between every pair are no bridge, so a GPU without it stands out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about the box: a fault, a warning or a note, and the GPUs that it is about."""

    level: str
    code: str
    text: str
    gpus: tuple[str, ...] = ()


def findings(topology: Topology) -> list[Finding]:
    """Return the faults, then the warnings, then the notes."""
    found = [*_text(topology), *_links(topology), *_cards(topology), *_nodes(topology), *_peers(topology)]
    return sorted(found, key=lambda each: ("fault", "warning", "note").index(each.level))


def _finding(level: str, name: str, about: tuple[str, ...] = (), /, **values: object) -> Finding:
    return Finding(level, name, fill(f"finding.{name}", **values), about)


def _text(topology: Topology) -> Iterator[Finding]:
    """Yield what the reader did to the text."""
    fused = [note for note in topology.notes if note.key == "fused"]
    if fused:
        yield _finding("warning", "fused", (), **fused[0].values, cells=len(fused))
    for note in topology.notes:
        if note.key == "fused":
            continue
        yield _finding("note" if note.key in ("no-affinity", "maybe-view") else "warning", note.key, (), **note.values)
    if topology.command.endswith("-mp"):
        yield _finding("warning", "pcie-view")


def _links(topology: Topology) -> Iterator[Finding]:
    kind = shape(topology)
    if kind not in ("full", "mesh", "groups"):
        return
    found = groups(topology)
    linked = [gpu for group in found for gpu in group.members]
    alone = tuple(gpu for gpu in topology.gpus if gpu not in linked)
    fast = _fast_name(topology)
    if alone:
        yield _alone(found, linked, alone, fast)
    for group in found:
        yield from _within(topology, group, fast)
    weights = sorted({weight for pair, weight in topology.weights.items() if topology.links[pair] == "XGMI"})
    if len(weights) > 1:
        yield _finding("note", "unequal-weights", weights=", ".join(map(str, weights)))


def _alone(found: list[Group], linked: list[str], alone: tuple[str, ...], fast: str) -> Finding:
    """Return the finding about GPUs without NVLink: a fault if all others are joined by it."""
    whole = len(found) == 1 and found[0].complete and len(linked) >= _FEWEST and len(linked) > len(alone)
    code = "gpu-without-link" if whole else "gpu-outside-groups"
    values = {"gpus": listed(alone), "others": listed(linked), "link": fast}
    return _finding("fault" if whole else "note", code, alone, **values)


def _within(topology: Topology, group: Group, fast: str) -> Iterator[Finding]:
    """Yield what is uneven among the GPUs of a group."""
    pairs = list(combinations(group.members, 2))
    if not group.complete:
        count = sum(not is_fast(topology.link(*pair)) for pair in pairs)
        yield _finding("warning", "mesh", gpus_named=listed(group.members), count=count, pairs=len(pairs), link=fast)
    elif len(group.codes) > 1:
        if odd := _odd_one(topology, group):
            yield _finding("fault", "fewer-links", (odd,), gpu=odd, codes=listed(group.codes))
        else:
            yield _finding("note", "unequal-links", gpus_named=listed(group.members), codes=listed(group.codes))


def _odd_one(topology: Topology, group: Group) -> str:
    """Return the GPU whose links are all of fewer NVLinks than those between the others, which are equal."""
    for gpu in group.members if len(group.members) > _FEWEST else ():
        others = [each for each in group.members if each != gpu]
        codes = {topology.link(*pair) for pair in combinations(others, 2)}
        mine = {topology.link(gpu, other) for other in others}
        if codes == {group.codes[-1]} and not mine & codes:
            return gpu
    return ""


def _fast_name(topology: Topology) -> str:
    return "XGMI" if topology.command.startswith("rocm") else "NVLink"


def _cards(topology: Topology) -> Iterator[Finding]:
    """Yield what the paths between GPUs and network cards show."""
    if not topology.nics or not topology.links:
        return
    codes = {topology.link(gpu, nic) for gpu in topology.gpus for nic in topology.nics}
    between = {topology.link(*pair) for pair in combinations(topology.nics, 2)}
    far = tuple(gpu for gpu in topology.gpus if not near_cards(topology, gpu))
    if codes == {"PHB"} and between == {"PHB"}:
        yield _finding("warning", "flat", count=len(topology.nics))
    elif len(far) == len(topology.gpus):
        level = "warning" if shape(topology) == "full" else "note"
        yield _finding(level, "far-cards", codes=listed(sorted(code for code in codes if code)))
    elif far:
        yield _finding("note", "gpus-without-card", gpus=listed(far))


def near_cards(topology: Topology, gpu: str) -> list[str]:
    """Return the network cards that share a PCIe switch with a GPU."""
    return [nic for nic in topology.nics if topology.link(gpu, nic) in NEAR]


def _nodes(topology: Topology) -> Iterator[Finding]:
    known = [topology.numa[gpu] for gpu in topology.gpus if gpu in topology.numa]
    pairs = topology.gpu_pairs()
    apart = len(known) > _FEWEST and len(set(known)) == len(topology.gpus)
    if apart and pairs and all(topology.links[pair] == "SYS" for pair in pairs):
        yield _finding("note", "node-per-gpu", count=len(known))
    if topology.links and not known and not any(note.key in ("no-affinity", "cut-nodes") for note in topology.notes):
        yield _finding("note", "no-nodes")


def _peers(topology: Topology) -> Iterator[Finding]:
    """Yield what each matrix of peer access says."""
    for access in topology.peers:
        what = f"topo -p2p {access.capability}".strip()
        for code in P2P_CODES[1:]:
            pairs = [pair for pair, status in access.status.items() if status == code]
            if pairs:
                values = {"code": code, "means": fill(f"p2p.{code}"), "one": pairs[0][0], "other": pairs[0][1]}
                counts = {"count": len(pairs), "total": len(access.status)}
                yield _finding("warning", "peer-refused", (), what=what, **values, **counts)
        if access.status and all(status == "OK" for status in access.status.values()):
            yield _finding("note", "peer-granted", what=what)
