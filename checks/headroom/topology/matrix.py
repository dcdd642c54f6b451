"""Read the rows of a matrix of `nvidia-smi topo`, and refuse what does not match its header."""

import re
from dataclasses import dataclass, field
from typing import Final

from headroom.topology.codes import P2P_CODES, split_codes
from headroom.topology.errors import TopologyError
from headroom.topology.header import Header, is_gpu, is_named
from headroom.topology.lines import Cell, Line
from headroom.topology.model import Note, Pair
from headroom.topology.partial_rows import seen_in_rows

_CPUS: Final = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_NODE: Final = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_EMPTY: Final = ("", "N/A")


@dataclass(slots=True)
class Matrix:
    """The codes of a matrix, the affinities of its GPUs, and where the text goes on after it."""

    devices: tuple[str, ...]
    codes: dict[Pair, str] = field(default_factory=dict)
    places: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    cpus: dict[str, str] = field(default_factory=dict)
    numa: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    after: int = 0
    peer: bool = False


def read_matrix(lines: list[Line], start: int, header: Header) -> Matrix:
    """Read the rows below a header.

    Raises:
        TopologyError: a row does not match the header, or rows of GPUs are missing.
    """
    while start < len(lines) and not lines[start].words():
        start += 1
    end = start
    while (
        end < len(lines)
        and (words := lines[end].words())
        and (words[0].text in header.devices or is_named(words[0].text))
    ):
        end += 1
    rows = lines[start:end]
    if not rows:
        place = lines[start] if start < len(lines) else header.line
        raise TopologyError("no-rows", place.number, 1)
    found = Matrix(header.devices or _names(rows), after=end)
    _note_header(found, header)
    try:
        for number, row in enumerate(rows):
            if not _read_row(found, header, row, number, last=number == len(rows) - 1):
                break
        _finish(found, header, rows)
    except TopologyError as error:
        error.seen = seen_in_rows(rows)
        raise
    return found


def _is_row(line: Line, header: Header) -> bool:
    """Return whether a line begins with the name of a device."""
    words = line.words()
    return bool(words) and (words[0].text in header.devices or is_named(words[0].text))


def _names(rows: list[Line]) -> tuple[str, ...]:
    """Return the devices of a table that has affinities only."""
    names: list[str] = []
    for row in rows:
        name = row.words()[0]
        if name.text in names:
            raise TopologyError("device-twice", row.number, name.column, name=name.text)
        names.append(name.text)
    return tuple(names)


def _note_header(found: Matrix, header: Header) -> None:
    for cell in header.fused:
        found.notes.append(_fused(header.line, cell, " and ".join(re.findall(r"[A-Za-z]+[0-9]?_?[0-9]+", cell.text))))


def _fused(line: Line, cell: Cell, read_as: str) -> Note:
    return Note("fused", {"line": line.number, "column": cell.column, "cell": cell.text, "as": read_as})


def _read_row(found: Matrix, header: Header, row: Line, number: int, *, last: bool) -> bool:
    """Read one row; return whether it is complete. The last row of a network card may be cut."""
    name, *cells = row.fields()
    expected = found.devices[number] if number < len(found.devices) else ""
    if name.text != expected:
        key = "row-order" if expected else "row-extra"
        raise TopologyError(key, row.number, name.column, name=name.text, expected=expected)
    if not header.devices:
        _affinities(found, header, row, name.text, cells)
        return True
    codes, rest = _codes(found, row, name.text, cells, cut=last and not is_gpu(name.text))
    if len(codes) < len(found.devices):
        found.notes.append(_cut_cards(row, found.devices[number]))
        return False
    _add(found, name.text, codes, row)
    if is_gpu(name.text):
        _affinities(found, header, row, name.text, rest)
    elif rest and any(each.text for each in rest):
        first = next(each for each in rest if each.text)
        raise TopologyError("cells-extra", row.number, first.column, name=name.text, cell=first.text)
    return True


def _cut_cards(row: Line, name: str) -> Note:
    return Note("cut-cards", {"line": row.number, "column": row.end, "name": name})


def _codes(
    found: Matrix, row: Line, name: str, cells: list[Cell], *, cut: bool
) -> tuple[list[tuple[str, int]], list[Cell]]:
    """Return the codes of a row with their columns, and the cells after them."""
    wanted = len(found.devices)
    codes: list[tuple[str, int]] = []
    for place, cell in enumerate(cells):
        if len(codes) == wanted:
            return codes, cells[place:]
        split = split_codes(cell.text)
        ends = place == len(cells) - 1 or not any(each.text for each in cells[place:])
        if not split and ends and cut:
            return codes, []
        if not split or len(codes) + len(split) > wanted:
            raise _odd_cell(row, name, cell, len(codes), wanted)
        if len(split) > 1:
            found.notes.append(_fused(row, cell, " and ".join(split)))
        codes += [(code, cell.column) for code in split]
    if len(codes) < wanted and not cut:
        raise TopologyError("cut", row.number, row.end, name=name, read=len(codes), wanted=wanted)
    return codes, []


def _odd_cell(row: Line, name: str, cell: Cell, read: int, wanted: int) -> TopologyError:
    if not cell.text or cell.text in _EMPTY or _CPUS.fullmatch(cell.text):
        return TopologyError("short", row.number, cell.column, name=name, read=read, wanted=wanted)
    return TopologyError("code", row.number, cell.column, name=name, cell=cell.text)


def _add(found: Matrix, name: str, codes: list[tuple[str, int]], row: Line) -> None:
    """Add the codes of a row; refuse a wrong diagonal, a mixture of codes, and a pair with two codes."""
    for other, (code, column) in zip(found.devices, codes, strict=True):
        if (code == "X") != (other == name):
            raise TopologyError("diagonal", row.number, column, name=name, other=other, code=code)
        if code == "X":
            continue
        if not found.codes:
            found.peer = code in P2P_CODES
        if found.peer != (code in P2P_CODES):
            raise TopologyError("mixed", row.number, column, code=code)
        before = found.codes.get((other, name))
        if before is not None and before != code and not found.peer:
            values = {"code": code, "before": before, "row": found.places[other, name][0]}
            raise TopologyError("asymmetric", row.number, column, one=name, other=other, **values)
        found.codes[name, other], found.places[name, other] = code, (row.number, column)


def _affinities(found: Matrix, header: Header, row: Line, name: str, rest: list[Cell]) -> None:
    """Read the CPUs and the NUMA node of a GPU; leave them out if cells are missing."""
    kinds = header.affinities
    if row.tabbed:
        rest = _without_double_tab(rest, len(kinds))
    if len(rest) > len(kinds):
        extra = next((cell for cell in rest if split_codes(cell.text)), rest[len(kinds)])
        raise TopologyError("cells-extra", row.number, extra.column, name=name, cell=extra.text)
    if len(rest) < len(kinds):
        if not any(note.key == "no-affinity" for note in found.notes):
            found.notes.append(Note("no-affinity", {"line": row.number, "name": name}))
        return
    for kind, cell in zip(kinds, rest, strict=True):
        if cell.text in _EMPTY:
            continue
        if not (_CPUS if kind == "cpu" else _NODE).fullmatch(cell.text):
            raise TopologyError("affinity", row.number, cell.column, name=name, cell=cell.text)
        if kind != "gpu numa":
            (found.cpus if kind == "cpu" else found.numa)[name] = cell.text


def _without_double_tab(rest: list[Cell], wanted: int) -> list[Cell]:
    """Drop the empty cell that the driver prints before the last one, and empty cells at the end."""
    while len(rest) > wanted and not rest[-1].text:
        rest = rest[:-1]
    if len(rest) == wanted + 1 and wanted > 1 and not rest[-2].text:
        rest = [*rest[:-2], rest[-1]]
    return rest


def _finish(found: Matrix, header: Header, rows: list[Line]) -> None:
    """Refuse missing rows of GPUs, and note missing rows of network cards."""
    read = {one for one, _ in found.codes}
    gpus = [name for name in found.devices if is_gpu(name)]
    if not header.devices or len(found.devices) == 1:
        return
    last = rows[-1]
    for name in gpus:
        if name not in read:
            raise TopologyError("rows-missing", last.number, last.end, name=name)
    missing = [name for name in found.devices if name not in read]
    if missing and not any(note.key == "cut-cards" for note in found.notes):
        found.notes.append(_cut_cards(last, missing[0]))
    found.codes = _one_way(found)


def _one_way(found: Matrix) -> dict[Pair, str]:
    """Keep each pair of links once, in the order of the devices; keep both directions of peer access."""
    if found.peer:
        return found.codes
    order = {name: place for place, name in enumerate(found.devices)}
    ways = {tuple(sorted(pair, key=order.__getitem__)): code for pair, code in found.codes.items()}
    pairs = ((one, other) for one in found.devices for other in found.devices)
    return {pair: ways[pair] for pair in pairs if pair in ways}
