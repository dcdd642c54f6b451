"""Read the matrices of `nvidia-smi topo -m`, `-mp` and `-p2p`."""

import re
from typing import Final

from headroom.topology.codes import P2P_CODES, is_fast, split_codes
from headroom.topology.errors import TopologyError
from headroom.topology.header import Header, find_header, is_device, is_gpu
from headroom.topology.lines import Cell, Line
from headroom.topology.matrix import Matrix, read_matrix
from headroom.topology.model import Note, PeerAccess, Topology
from headroom.topology.partial_rows import seen_in_rows

_COMMAND: Final = re.compile(r"topo[ \t]+(-mp|-m|-p2p)(?:[ \t]+([a-z]+))?(?![a-z0-9])")
_LEGEND: Final = re.compile(r"[ \t]*(NIC[0-9]{1,3}):[ \t]*([A-Za-z0-9_.-]+)[ \t]*")


def read(lines: list[Line]) -> Topology | None:
    """Return what the matrices show, or None if no line is a header or a row.

    Raises:
        TopologyError: a matrix cannot be read without guessing.
    """
    found = Topology("")
    place, command = 0, ("", "")
    while place < len(lines):
        line = lines[place]
        if match := _COMMAND.search(line.text):
            command = (match.group(1), match.group(2) or "")
        header = find_header(line)
        if header is None:
            _refuse_row(lines, place)
            _legend(found, line)
            place += 1
            continue
        place = _read_one(found, lines, place, header, command)
        command = ("", "")
    return found if found.gpus else None


def _read_one(found: Topology, lines: list[Line], place: int, header: Header, command: tuple[str, str]) -> int:
    """Read the matrix below a header into the topology, and return the place after it."""
    matrix = read_matrix(lines, place + 1, header)
    if matrix.peer:
        _add_peers(found, matrix, header, command[1])
    else:
        _add_links(found, matrix, header, command[0])
    return matrix.after


def _add_links(found: Topology, matrix: Matrix, header: Header, flag: str) -> None:
    if found.command not in ("", "nvidia-smi topo -p2p"):
        raise TopologyError("second", header.line.number, 1)
    gpus = tuple(name for name in matrix.devices if is_gpu(name))
    _same_gpus(found, gpus, header)
    found.command = "nvidia-smi topo -mp" if flag == "-mp" else "nvidia-smi topo -m"
    if not header.devices:
        found.command = "nvidia-smi topo"
    found.gpus, found.nics = gpus, matrix.devices[len(gpus) :]
    found.links, found.cpus, found.numa = matrix.codes, matrix.cpus, matrix.numa
    found.notes += matrix.notes
    if not flag and len(gpus) > 1 and matrix.codes and not any(map(is_fast, matrix.codes.values())):
        found.notes.append(Note("maybe-view", {}))


def _add_peers(found: Topology, matrix: Matrix, header: Header, capability: str) -> None:
    gpus = tuple(name for name in matrix.devices if is_gpu(name))
    _same_gpus(found, gpus, header)
    found.gpus, found.command = gpus, found.command or "nvidia-smi topo -p2p"
    found.peers.append(PeerAccess(capability, matrix.codes))
    found.notes += [note for note in matrix.notes if note.key == "fused"]


def _same_gpus(found: Topology, gpus: tuple[str, ...], header: Header) -> None:
    if found.gpus and gpus != found.gpus:
        raise TopologyError("other-gpus", header.line.number, 1)


def _legend(found: Topology, line: Line) -> None:
    """Take a network card's name from the NIC legend."""
    match = _LEGEND.fullmatch(line.text)
    if match and match.group(1) in found.nics:
        found.names[match.group(1)] = match.group(2)


def _refuse_row(lines: list[Line], place: int) -> None:
    """Refuse a row of a matrix that has no header."""
    words = lines[place].words()
    if len(words) > 1 and is_device(words[0].text) and _is_code(words[1]):
        error = TopologyError("no-header", lines[place].number, words[0].column, name=words[0].text)
        error.seen = seen_in_rows(lines[place:])
        raise error


def _is_code(cell: Cell) -> bool:
    codes = split_codes(cell.text)
    return bool(codes) and (codes[0] not in P2P_CODES)
