"""The header of a matrix: which devices the columns are, and which affinities follow them."""

import re
from dataclasses import dataclass
from typing import Final

from headroom.topology.errors import TopologyError
from headroom.topology.lines import Cell, Line

_NAMED: Final = r"(?:(?:GPU|NIC)[0-9]{1,3}|mlx[0-9]_[0-9]{1,3})"
_JOINED: Final = re.compile(f"{_NAMED}+")
_CARD: Final = re.compile(r"[a-z][A-Za-z0-9_]*[0-9]")
_GPU: Final = re.compile(r"GPU[0-9]{1,3}")
_AFFINITY: Final = re.compile(r"CPU[ \t]+Affinity|NUMA[ \t]+Affinity|GPU[ \t]+NUMA[ \t]+ID")
_TAIL: Final = re.compile(
    r"(CPU[ \t]+Affinity)?(?:[ \t]*(NUMA[ \t]+Affinity))?(?:[ \t]*(GPU[ \t]+NUMA[ \t]+ID))?[ \t]*"
)
_KINDS: Final = ("cpu", "numa", "gpu numa")
MOST_DEVICES: Final = 128


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a matrix, the affinities after them, and the columns that touched each other."""

    line: Line
    devices: tuple[str, ...]
    affinities: tuple[str, ...]
    fused: tuple[Cell, ...] = ()


def is_gpu(name: str) -> bool:
    """Return whether a device is a GPU."""
    return bool(_GPU.fullmatch(name))


def is_named(name: str) -> bool:
    """Return whether a word is the name of a GPU, or of a network card as nvidia-smi writes it."""
    return bool(re.fullmatch(_NAMED, name))


def is_device(name: str) -> bool:
    """Return whether a word can be the name of a device."""
    return bool(_JOINED.fullmatch(name) or _CARD.fullmatch(name))


def find_header(line: Line) -> Header | None:
    """Return the line's header, or None if the line is none.

    Raises:
        TopologyError: the line begins as a header and cannot be read to its end.
    """
    match = _AFFINITY.search(line.text)
    head = Line(line.number, line.text[: match.start()] if match else line.text).words()
    kinds = _affinities(line, match) if match else None
    if match and not head:
        return Header(line, (), kinds) if kinds and match.start() else None
    start = next((place for place, cell in enumerate(head) if _begins(cell)), len(head))
    if start and not ("topo" in line.text and start < len(head)):
        return None
    cells = head[start:]
    names = [name for cell in cells for name in _names(cell)]
    if not _enough(line, cells, affinity=match is not None):
        return None
    _refuse_odd(line, cells)
    if match and kinds is None:
        raise TopologyError("header", line.number, match.start() + 1)
    _refuse_order(line, cells, names)
    fused = tuple(cell for cell in cells if len(_names(cell)) > 1)
    return Header(line, tuple(names), kinds or (), fused)


def _joined(cell: Cell) -> bool:
    return bool(_JOINED.fullmatch(cell.text) or _CARD.fullmatch(cell.text))


def _begins(cell: Cell) -> bool:
    return bool(_JOINED.fullmatch(cell.text)) and cell.text.startswith("GPU")


def _names(cell: Cell) -> list[str]:
    return re.findall(_NAMED, cell.text) if _JOINED.fullmatch(cell.text) else [cell.text]


def _enough(line: Line, cells: list[Cell], *, affinity: bool) -> bool:
    """Return whether the cells make a header: two devices, or one with an affinity or alone after a blank."""
    names = [name for cell in cells[:2] for name in _names(cell)]
    if len(names) > 1:
        return is_device(names[1])
    return bool(names) and (affinity or line.text[0] in " \t")


def _affinities(line: Line, match: re.Match[str]) -> tuple[str, ...] | None:
    """Return the affinities from a place of the line on, or None if other words follow them."""
    found = _TAIL.fullmatch(line.text, match.start())
    return tuple(kind for kind, group in zip(_KINDS, found.groups(), strict=True) if group) if found else None


def _refuse_odd(line: Line, cells: list[Cell]) -> None:
    for cell in cells:
        if not _joined(cell):
            raise TopologyError("header", line.number, cell.column)


def _refuse_order(line: Line, cells: list[Cell], names: list[str]) -> None:
    """Refuse a device that comes twice, a GPU after a network card, and more devices than a box has."""
    if len(names) > MOST_DEVICES:
        raise TopologyError("too-many", line.number, cells[0].column, most=MOST_DEVICES)
    seen: list[str] = []
    for cell in cells:
        for name in _names(cell):
            if name in seen or (is_gpu(name) and seen and not is_gpu(seen[-1])):
                raise TopologyError("device-twice", line.number, cell.column, name=name)
            seen.append(name)
