"""Read the blocks of `rocm-smi --showtopo`: weight, hops, type of link, NUMA nodes."""

import re
from typing import Final

from headroom.topology.errors import TopologyError
from headroom.topology.header import MOST_DEVICES
from headroom.topology.lines import Line
from headroom.topology.model import Note, Pair, Topology

_TITLE: Final = re.compile(r"[ \t]*=+ ?([^=]+?) ?=+[ \t]*")
_BLOCKS: Final = {
    "Weight between two GPUs": "weights",
    "Hops between two GPUs": "hops",
    "Link Type between two GPUs": "links",
}
_NODE: Final = re.compile(r"GPU ?\[?([0-9]{1,3})\]?[ \t]*: \(Topology\) Numa (Node|Affinity): (-?[0-9]{1,4})[ \t]*")
_GPU: Final = re.compile(r"GPU[0-9]{1,3}")
_NUMBER: Final = re.compile(r"[0-9]{1,6}")
_TYPES: Final = ("XGMI", "PCIE")


def is_rocm(lines: list[Line]) -> bool:
    """Return whether the text is of rocm-smi."""
    return any("between two GPUs" in line.text or "(Topology) Numa" in line.text for line in lines)


def read(lines: list[Line]) -> Topology | None:
    """Return what the blocks show, or None if the text has none of them.

    Raises:
        TopologyError: a block cannot be read without guessing.
    """
    found = Topology("rocm-smi --showtopo")
    done: set[str] = set()
    for place, line in enumerate(lines):
        match = _TITLE.fullmatch(line.text)
        title = match.group(1).strip(" \t") if match else ""
        if title in _BLOCKS:
            _once(done, title, line)
            _read_block(found, _BLOCKS[title], lines, place + 1)
    _read_nodes(found, lines)
    return found if found.gpus else None


def _once(done: set[str], title: str, line: Line) -> None:
    if title in done:
        raise TopologyError("second", line.number, 1)
    done.add(title)


def _read_block(found: Topology, kind: str, lines: list[Line], place: int) -> None:
    """Read a matrix of GPUs."""
    while place < len(lines) and not lines[place].words():
        place += 1
    if place == len(lines):
        raise TopologyError("no-rows", lines[-1].number, 1)
    header = lines[place]
    gpus = tuple(cell.text for cell in header.words())
    for cell in header.words():
        if not _GPU.fullmatch(cell.text) or gpus.count(cell.text) > 1:
            raise TopologyError("header", header.number, cell.column)
    if len(gpus) > MOST_DEVICES:
        raise TopologyError("too-many", header.number, 1, most=MOST_DEVICES)
    if found.gpus and gpus != found.gpus:
        raise TopologyError("other-gpus", header.number, 1)
    found.gpus = gpus
    cells: dict[Pair, str] = {}
    for number, name in enumerate(gpus):
        row = lines[place + 1 + number] if place + 1 + number < len(lines) else None
        _read_row(cells, gpus, name, row, lines[min(place + number, len(lines) - 1)], kind)
    _store(found, kind, cells)


def _read_row(
    cells: dict[Pair, str], gpus: tuple[str, ...], name: str, row: Line | None, before: Line, kind: str
) -> None:
    words = row.words() if row else []
    if row is None or not words:
        raise TopologyError("rows-missing", before.number, before.end, name=name)
    if words[0].text != name:
        raise TopologyError("row-order", row.number, words[0].column, name=words[0].text, expected=name)
    for other, cell in zip(gpus, words[1:], strict=False):
        same, zero = other == name, cell.text == "0"
        legal = zero if same else cell.text in _TYPES if kind == "links" else _NUMBER.fullmatch(cell.text)
        if not legal:
            raise TopologyError("code", row.number, cell.column, name=name, cell=cell.text)
        if not same and (other, name) in cells and cells[other, name] != cell.text:
            line = row.number - gpus.index(name) + gpus.index(other)
            values = {"one": name, "other": other, "code": cell.text, "before": cells[other, name]}
            raise TopologyError("asymmetric", row.number, cell.column, row=line, **values)
        if not same:
            cells[name, other] = cell.text
    if len(words) - 1 < len(gpus):
        raise TopologyError("cut", row.number, row.end, name=name, read=len(words) - 1, wanted=len(gpus))
    if len(words) - 1 > len(gpus):
        extra = words[len(gpus) + 1]
        raise TopologyError("cells-extra", row.number, extra.column, name=name, cell=extra.text)


def _store(found: Topology, kind: str, cells: dict[Pair, str]) -> None:
    pairs = {(a, b): cells[a, b] for place, a in enumerate(found.gpus) for b in found.gpus[place + 1 :]}
    if kind == "links":
        found.links = pairs
    else:
        numbers = {pair: int(cell) for pair, cell in pairs.items()}
        found.weights, found.hops = (numbers, found.hops) if kind == "weights" else (found.weights, numbers)


def _read_nodes(found: Topology, lines: list[Line]) -> None:
    """Read the NUMA node of each GPU; a line that is cut is noted."""
    nodes: dict[str, str] = {}
    for line in lines:
        if "(Topology)" not in line.text:
            continue
        match = _NODE.fullmatch(line.text.lstrip(" \t"))
        if not match:
            found.notes.append(Note("cut-nodes", {"line": line.number, "column": line.end}))
            break
        name = f"GPU{int(match.group(1))}"
        if match.group(2) == "Node":
            if name in nodes or (found.gpus and name not in found.gpus):
                raise TopologyError("device-twice", line.number, 1, name=name)
            nodes[name] = match.group(3)
    found.gpus = found.gpus or tuple(nodes)
    found.numa = {name: node for name, node in nodes.items() if not node.startswith("-")}
