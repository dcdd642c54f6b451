"""Draw a box from its topology: NUMA nodes, GPUs, NVLink, network cards behind PCIe switches, the slowest pair in red.

`docs/assets/topology/drawing.js` draws the same. All coordinates are whole numbers, so that both write the same text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import wrap
from headroom.topology.codes import NEAR, is_fast, rank
from headroom.topology.findings import near_cards
from headroom.topology.link_groups import Group, groups, slowest
from headroom.topology.model import Pair, Topology
from headroom.topology.report import Report
from headroom.topology.wording import fill, listed

LEFT: Final = 92
_BOX: Final = (58, 24)
_PITCH: Final = 34
_LINE: Final = 14
_FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class Branch:
    """GPUs that share their near network cards, and the words on them."""

    gpus: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def height(self) -> int:
        """The height of the GPUs or of the words, whichever is larger."""
        return max(len(self.gpus) * _PITCH, len(self.words) * _LINE + 16)


def picture(report: Report, name: str = "topology") -> Picture:
    """Return the drawing of a report, with the report's sentences as its text alternative."""
    said = [report.summary, *([report.slowest] if report.slowest else []), *(each.text for each in report.findings)]
    return Picture(
        name, fill("drawing.title", command=report.topology.command), sentences(said), partial(_draw, report)
    )


def _draw(report: Report, canvas: Canvas) -> None:
    box = report.topology
    y = 0
    middles: dict[str, int] = {}
    nodes = _nodes(box)
    for number, (node, gpus) in enumerate(nodes):
        if number:
            _between(canvas, box, nodes[number - 1][1], gpus, y)
            y += 36
        y = _node(canvas, report, node, gpus, y, middles)
    for number, group in enumerate(groups(box)):
        _links(canvas, box, group, middles, number)
    if report.slowest_pair and _stands_out(report):
        _arc(canvas, report.slowest_pair, middles, "rd")
    _legend(canvas, report, y + 20)


def _stands_out(report: Report) -> bool:
    """Return whether some pairs are slower than others, over PCIe."""
    found = slowest(report.topology)
    if not found or not report.slowest_pair or is_fast(found[0]):
        return False
    return len(found[1]) < len(report.topology.gpu_pairs())


def _nodes(box: Topology) -> list[tuple[str, list[str]]]:
    """Return the NUMA nodes in the order of their first GPUs, each with its GPUs."""
    found: dict[str, list[str]] = {}
    for gpu in box.gpus:
        found.setdefault(box.numa.get(gpu, ""), []).append(gpu)
    return list(found.items())


def _branches(canvas: Canvas, box: Topology, gpus: Sequence[str]) -> list[Branch]:
    """Put GPUs together that share their near network cards, or a PCIe switch if there are none."""
    found: dict[str, list[str]] = {}
    for gpu in gpus:
        near = near_cards(box, gpu)
        switch = next((other for other in box.gpus if other != gpu and box.link(gpu, other) in NEAR), gpu)
        first = min((gpu, switch), key=box.gpus.index)
        found.setdefault(" ".join(near) if near else f"- {first}", []).append(gpu)
    room = canvas.width - LEFT - _BOX[0] - 32
    said = [(tuple(each), _words(box, each)) for each in found.values()]
    return [Branch(each, tuple(wrap(words, room, "s")) if words else ()) for each, words in said]


def _words(box: Topology, gpus: Sequence[str]) -> str:
    """Return the network cards behind the PCIe switch of some GPUs, or how the GPUs meet on PCIe."""
    near = near_cards(box, gpus[0])
    if near:
        codes = sorted({box.link(gpu, nic) or "" for gpu in gpus for nic in near})
        return fill("drawing.switch", codes=listed(codes), cards=", ".join(near))
    codes = sorted({code for pair in combinations(gpus, 2) if (code := box.link(*pair)) and not is_fast(code)})
    return fill("drawing.meet", codes=listed(codes)) if codes else ""


def _node(canvas: Canvas, report: Report, node: str, gpus: list[str], top: int, middles: dict[str, int]) -> int:
    """Draw a NUMA node and its GPUs, note the middle of each GPU, and return where it ends."""
    box = report.topology
    branches = _branches(canvas, box, gpus)
    cpus = sorted({box.cpus[gpu] for gpu in gpus if gpu in box.cpus})
    title = fill("drawing.node", node=node) if node else fill("drawing.no-node")
    rows = wrap(title + (fill("drawing.cpus", cpus=cpus[0]) if len(cpus) == 1 else ""), canvas.width - LEFT - 16, "s")
    height = 8 + _LINE * len(rows) + sum(branch.height for branch in branches) + 4
    canvas.rect(LEFT - 12, top, (canvas.width - LEFT + 11, height), "soft")
    canvas.paragraph((LEFT, top + 17), " ".join(rows), canvas.width - LEFT - 16, "s m", _LINE)
    y = top + 8 + _LINE * len(rows)
    odd = {gpu for each in report.findings if each.level == "fault" for gpu in each.gpus}
    for branch in branches:
        _branch(canvas, branch, y, odd, middles)
        y += branch.height
    return top + height


def _branch(canvas: Canvas, branch: Branch, top: int, odd: set[str], middles: dict[str, int]) -> None:
    """Draw GPUs, and at their right what they share."""
    right = LEFT + _BOX[0]
    for number, gpu in enumerate(branch.gpus):
        y = top + 6 + number * _PITCH
        middles[gpu] = y + _BOX[1] // 2
        canvas.rect(LEFT, y, _BOX, "box", fill="bad" if gpu in odd else "")
        canvas.text((LEFT + _BOX[0] // 2, y + 16), gpu.replace("GPU", "GPU "), "b halo", "mid")
        if branch.words:
            canvas.line((right, middles[gpu]), (right + 10, middles[gpu]))
    if branch.words:
        first, last = middles[branch.gpus[0]], middles[branch.gpus[-1]]
        canvas.line((right + 10, first - 6), (right + 10, last + 6), "ln thick")
        for number, row in enumerate(branch.words):
            canvas.text((right + 20, top + 22 + number * _LINE), row, "s")


def _between(canvas: Canvas, box: Topology, above: list[str], below: list[str], top: int) -> None:
    """Draw the slowest PCIe path between two NUMA nodes, as far as the text shows one."""
    ends = [(one, other) for one in above for other in below]
    for mine, others in ((above, below), (below, above)):
        cards = dict.fromkeys(nic for gpu in others for nic in near_cards(box, gpu))
        ends += [(gpu, nic) for gpu in mine for nic in cards]
    codes = [code for pair in ends if (code := box.link(*pair)) and not is_fast(code)]
    if codes:
        code = min(codes, key=rank)
        canvas.line((LEFT + 180, top), (LEFT + 180, top + 36), "rd" if rank(code) == 0 else "ln")
        canvas.text((LEFT + 190, top + 22), code, "s b red" if rank(code) == 0 else "s b")


def _links(canvas: Canvas, box: Topology, group: Group, middles: dict[str, int], number: int) -> None:
    """Draw a group as one bar if all its pairs are equal, and as an arc per pair if not."""
    if group.complete and len(group.codes) == 1 and len(group.members) >= _FEWEST:
        x = LEFT - 32 - 12 * (number % 4)
        places = sorted(middles[gpu] for gpu in group.members)
        canvas.line((x, places[0] - 8), (x, places[-1] + 8), "tl thick")
        for y in places:
            canvas.line((x, y), (LEFT, y), "tl")
        return
    for pair in combinations(group.members, 2):
        code = box.link(*pair)
        if code and is_fast(code):
            _arc(canvas, pair, middles, "tl thick" if code == group.codes[-1] and len(group.codes) > 1 else "tl")


def _arc(canvas: Canvas, pair: Pair, middles: dict[str, int], cls: str) -> None:
    """Draw an arc at the left of two GPUs; it is wider for GPUs that are further apart."""
    first, last = sorted(middles[gpu] for gpu in pair)
    x = max(4, LEFT - 16 - (last - first) // 3)
    canvas.path(f"M{LEFT} {first}C{x} {first} {x} {last} {LEFT} {last}", cls)


def _legend(canvas: Canvas, report: Report, top: int) -> None:
    """Explain the lines, and name the network cards that are near no GPU."""
    box, y = report.topology, top
    fast = [code for group in groups(box) for code in group.codes]
    if fast:
        codes = listed(dict.fromkeys(fast))
        thick = fill("drawing.thick", code=fast[-1]) if len(set(fast)) > 1 else ""
        y = _key(canvas, "tl", fill("drawing.links", codes=codes) + thick, y)
    if report.slowest:
        y = _key(canvas, "rd" if _stands_out(report) else "", report.slowest, y)
    far = [nic for nic in box.nics if not any(nic in near_cards(box, gpu) for gpu in box.gpus)]
    if far:
        y = _key(canvas, "", fill("drawing.far", cards=", ".join(far)), y)
    _key(canvas, "", fill("drawing.limit"), y)


def _key(canvas: Canvas, cls: str, words: str, y: int) -> int:
    """Write a line of the legend and return where the next one begins."""
    if cls:
        canvas.line((0, y - 4), (16, y - 4), cls)
    rows = wrap(words, canvas.width - 24, "s")
    canvas.paragraph((24, y), words, canvas.width - 24, "s m", _LINE)
    return y + _LINE * len(rows) + 4
