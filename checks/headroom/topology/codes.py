"""The codes of links and of peer-to-peer access: their order from slow to fast, and how a cell is read."""

import re
from typing import Final

PCIE_CODES: Final = ("SOC", "SYS", "NODE", "PHB", "PXB", "PIX")
"""The codes of `nvidia-smi topo -m` without NVLink, from the longest path to the shortest; old drivers print SOC."""
P2P_CODES: Final = ("OK", "NS", "CNS", "GNS", "TNS", "DR", "U")
NEAR: Final = ("PIX", "PXB")
"""The codes of a path that stays below one PCIe host bridge."""
_LINK: Final = r"(?:SYS|SOC|NODE|PHB|PXB|PIX|NV[1-9][0-9]{0,2}|X)"
_P2P: Final = r"(?:OK|CNS|GNS|TNS|NS|DR|U|X)"
_LINKS: Final = re.compile(f"{_LINK}+")
_STATES: Final = re.compile(f"{_P2P}+")


def split_codes(cell: str) -> list[str]:
    """Return the codes of a cell: one, several if columns are fused, none if the cell is no code."""
    if _LINKS.fullmatch(cell):
        return re.findall(_LINK, cell)
    return re.findall(_P2P, cell) if _STATES.fullmatch(cell) else []


def is_fast(code: str | None) -> bool:
    """Return whether a code is NVLink or XGMI."""
    return code is not None and (code.startswith("NV") or code == "XGMI")


def rank(code: str) -> int:
    """Return a number that is larger for a shorter path or more NVLinks."""
    if code.startswith("NV"):
        return 10 + int(code[2:])
    order = {"SOC": 0, "SYS": 0, "PCIE": 0, "NODE": 1, "PHB": 2, "PXB": 3, "PIX": 4, "XGMI": 10}
    return order[code]


def kind(code: str) -> str:
    """Return the code's entry in the legend: NV# for every number of NVLinks."""
    return "NV#" if code.startswith("NV") else code
