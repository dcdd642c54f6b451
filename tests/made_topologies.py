"""Texts in the format of the tools, for boxes of which no whole output is published, such as those with a fault."""

from collections.abc import Callable

Codes = Callable[[int, int], str]


def matrix(
    gpus: int, codes: Codes, *, nics: int = 0, nodes: Callable[[int], str] | None = None, command: str = "-m"
) -> str:
    """Return what `nvidia-smi topo` prints for devices with these codes, the GPUs first."""
    names = [f"GPU{number}" for number in range(gpus)] + [f"NIC{number}" for number in range(nics)]
    header = ["", *names, *(["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"] if nodes else [])]
    rows = []
    for place, name in enumerate(names):
        cells = [
            " X " if other == place else codes(min(place, other), max(place, other)) for other in range(len(names))
        ]
        node = nodes(place) if nodes and place < gpus else ""
        rows.append([name, *cells, *([f"{int(node) * 8}-{int(node) * 8 + 7}", node, "", "N/A"] if node else [])])
    return f"$ nvidia-smi topo {command}\n" + "\n".join("\t".join(row) for row in [header, *rows]) + "\n"


def rocm(kinds: dict[str, Codes], gpus: int) -> str:
    """Return blocks of `rocm-smi --showtopo`."""
    names = [f"GPU{number}" for number in range(gpus)]
    blocks = []
    for title, codes in kinds.items():
        rows = [
            [name, *("0" if other == place else codes(min(place, other), max(place, other)) for other in range(gpus))]
            for place, name in enumerate(names)
        ]
        lines = ["".join(f"{cell:<13}" for cell in row) for row in [["", *names], *rows]]
        blocks.append("\n".join([f"{title:=^80}", *lines, ""]))
    return "\n".join(blocks)


def halves(one: int, other: int) -> bool:
    """Return whether two of eight GPUs are in the same half."""
    return one // 4 == other // 4


CYCLE = {tuple(sorted((place, (place + 1) % 4))) for place in range(4)}
MADE = {
    "gpu without NVLink": matrix(8, lambda a, b: "SYS" if 2 in (a, b) else "NV18", nodes=lambda g: str(g // 4)),
    "two GPUs without NVLink": matrix(8, lambda a, b: "SYS" if {a, b} & {2, 5} else "NV18"),
    "GPU with fewer NVLinks": matrix(8, lambda a, b: "NV16" if 3 in (a, b) else "NV18", nodes=lambda g: str(g // 4)),
    "unequal NVLinks": matrix(4, lambda a, b: "NV2" if a + b == 3 else "NV1"),
    "PCIe view": matrix(8, lambda a, b: "NODE" if halves(a, b) else "SYS", nodes=lambda g: str(g // 4), command="-mp"),
    "virtual machine": matrix(4, lambda _, b: "NV18" if b < 4 else "PHB", nics=8, nodes=lambda _: "0"),
    "far network devices": matrix(8, lambda _, b: "NV12" if b < 8 else "SYS", nics=4, nodes=lambda g: str(g // 4)),
    "one node per GPU": matrix(8, lambda _a, _b: "SYS", nodes=str),
    "bridged pairs": matrix(4, lambda a, b: "NV4" if a // 2 == b // 2 else "SYS", nodes=lambda g: str(g // 2)),
    "ring of NVLinks": matrix(4, lambda a, b: "NV2" if (a, b) in CYCLE else "PHB"),
    "PCIe switches": matrix(8, lambda a, b: "PIX" if a // 2 == b // 2 else "PXB" if halves(a, b) else "SYS"),
    "one GPU": matrix(1, lambda _a, _b: "", nodes=str),
    "sixteen GPUs": matrix(16, lambda _a, _b: "NV6", nodes=lambda g: str(g // 8)),
    "colours of a terminal": matrix(2, lambda _a, _b: "NV4").replace("\tGPU0\tGPU1", "\t\x1b[4mGPU0\tGPU1\x1b[0m"),
    "colours without escapes": matrix(2, lambda _a, _b: "NV4").replace("\tGPU0\tGPU1", "\t[4mGPU0\tGPU1[0m"),
    "P2P only": matrix(3, lambda a, _b: "OK" if a else "CNS", command="-p2p r"),
    "rocm two hives": rocm(
        {
            "Weight between two GPUs": lambda a, b: "15" if halves(a, b) else "40",
            "Hops between two GPUs": lambda a, b: "1" if halves(a, b) else "2",
            "Link Type between two GPUs": lambda a, b: "XGMI" if halves(a, b) else "PCIE",
        },
        8,
    ),
    "rocm weights": rocm(
        {
            "Weight between two GPUs": lambda a, b: "15" if b - a == 1 else "30",
            "Link Type between two GPUs": lambda _a, _b: "XGMI",
        },
        4,
    ),
    "rocm weights only": rocm({"Weight between two GPUs": lambda _a, _b: "15"}, 2),
}
"""The texts by what they show."""
