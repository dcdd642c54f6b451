"""Read the output of a topology command, whichever of them it is."""

import re
from typing import Final

from headroom.topology import nvidia_smi, rocm_smi
from headroom.topology.errors import TopologyError
from headroom.topology.lines import Line, read_lines
from headroom.topology.model import Topology

_FAILURES: Final = re.compile(
    r"failed to run topology|nvidia-smi has failed|command not found|no devices were found|not recognized as",
    re.IGNORECASE | re.ASCII,
)


def read_topology(text: str) -> Topology:
    """Read the output of `nvidia-smi topo -m`, `-mp` or `-p2p`, or of `rocm-smi --showtopo`.

    Lines before and after the matrix, such as a prompt, are ignored.

    Raises:
        TopologyError: the text cannot be read without guessing; the error has the place and a remedy.
    """
    lines = read_lines(text)
    read = rocm_smi.read if rocm_smi.is_rocm(lines) else nvidia_smi.read
    try:
        found = read(lines)
    except TopologyError as error:
        failure = _failure(lines) if error.key == "no-rows" else None
        raise failure or error from None
    if found is None:
        raise _failure(lines) or TopologyError("nothing", 1, 1)
    return found


def _failure(lines: list[Line]) -> TopologyError | None:
    """Return the refusal of a text in which the command reports its own failure."""
    for line in lines:
        if match := _FAILURES.search(line.text):
            return TopologyError("failed", line.number, match.start() + 1, said=line.text.strip(" \t")[:80])
    return None
