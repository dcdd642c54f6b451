"""What cannot be read is refused at its place; what surrounds a matrix is ignored."""

import pytest

from headroom.topology import TopologyError, read_topology
from headroom.topology.wording import SENTENCES

GOOD = (
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\tPIX\t0-7\t0\n"
    "GPU1\tNV4\t X \tSYS\t8-15\t1\nNIC0\tPIX\tSYS\t X\n"
)
ROCM = "== Link Type between two GPUs ==\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n"
CASES = {
    "no matrix": ("hello", "nothing", 1, 1),
    "own failure": ("\tGPU0\tGPU1\nFailed to run topology matrix\n", "failed", 2, 1),
    "command is missing": ("bash: nvidia-smi: command not found", "failed", 1, 19),
    "unknown word in the header": (GOOD.replace("NUMA Affinity", "NUMA Affin"), "header", 1, 17),
    "unknown device in the header": (GOOD.replace("NIC0\tCPU", "???\tCPU"), "header", 1, 12),
    "device twice in the header": (GOOD.replace("GPU0\tGPU1", "GPU0\tGPU0"), "device-twice", 1, 7),
    "GPU after a network card": (GOOD.replace("GPU1\tNIC0", "NIC0\tGPU1"), "device-twice", 1, 12),
    "no header": (GOOD.partition("\n")[2], "no-header", 1, 1),
    "header alone": (GOOD.partition("\n")[0] + "\n", "no-rows", 1, 1),
    "row of another device": (GOOD.replace("\nGPU1", "\nGPU2"), "row-order", 3, 1),
    "row twice": (GOOD.replace("\nNIC0", "\nGPU0\t X \tNV4\tPIX\t0-7\t0\nNIC0"), "row-order", 4, 1),
    "one row more": (GOOD + "NIC1\tPIX\tSYS\t X\n", "row-extra", 5, 1),
    "no row of the last GPU": (GOOD[: GOOD.index("\nGPU1")], "rows-missing", 2, 23),
    "row ends early": (GOOD[: GOOD.index("\tSYS\t8")], "cut", 3, 12),
    "cell is missing": (GOOD.replace("NV4\tPIX", "PIX"), "short", 2, 14),
    "empty cell": (GOOD.replace("NV4\tPIX", "\tPIX"), "short", 2, 10),
    "unknown code": (GOOD.replace("SYS\t8", "SIS\t8"), "code", 3, 14),
    "NVLink without a number": (GOOD.replace("NV4\tPIX", "NV#\tPIX"), "code", 2, 10),
    "zero NVLinks": (GOOD.replace("NV4\tPIX", "NV0\tPIX"), "code", 2, 10),
    "one cell more": (GOOD.replace("\t0-7", "\tSYS\t0-7"), "cells-extra", 2, 18),
    "words after a network card": (GOOD.replace("\t X\n", "\t X\tSYS\n"), "cells-extra", 4, 17),
    "no list of CPUs": (GOOD.replace("0-7", "0-"), "affinity", 2, 18),
    "X in a wrong column": (GOOD.replace("\tNV4\t X", "\tX\tNV4"), "diagonal", 3, 6),
    "no X at itself": (GOOD.replace("GPU0\t X ", "GPU0\tSYS"), "diagonal", 2, 6),
    "two codes for one pair": (GOOD.replace("NIC0\tPIX", "NIC0\tPHB"), "asymmetric", 4, 6),
    "status among links": (GOOD.replace("SYS\t8", "OK\t8"), "mixed", 3, 14),
    "two machines": (GOOD + "\n" + GOOD, "second", 6, 1),
    "peer access of other GPUs": (GOOD + "\n\tGPU0\nGPU0\tX\n", "second", 6, 1),
    "peer access of three GPUs": (
        GOOD + "\n\tGPU0\tGPU1\tGPU2\nGPU0\tX\tOK\tOK\nGPU1\tOK\tX\tOK\nGPU2\tOK\tOK\tX\n",
        "other-gpus",
        6,
        1,
    ),
    "too many devices": ("\t" + "\t".join(f"GPU{number}" for number in range(129)), "too-many", 1, 2),
    "affinities of a GPU twice": ("  CPU Affinity\nGPU0 0-7\nGPU0 8-15\n", "device-twice", 3, 1),
    "rocm: unknown type": (ROCM.replace("XGMI  0", "XYZ   0"), "code", 4, 8),
    "rocm: cut row": (ROCM[: ROCM.rindex("  0")], "cut", 4, 12),
    "rocm: row is missing": (ROCM[: ROCM.rindex("GPU1")], "rows-missing", 3, 18),
    "rocm: other row": (ROCM.replace("\nGPU1", "\nGPU3"), "row-order", 4, 1),
    "rocm: one cell more": (ROCM.replace("XGMI  0", "XGMI  0 0"), "cells-extra", 4, 16),
    "rocm: two types of a pair": (ROCM.replace("XGMI  0", "PCIE  0"), "asymmetric", 4, 8),
    "rocm: no diagonal": (ROCM.replace("GPU0   0 ", "GPU0   1 "), "code", 3, 8),
    "rocm: block twice": (ROCM + ROCM, "second", 5, 1),
    "rocm: header": (ROCM.replace("  GPU1\n", "  GPUx\n"), "header", 2, 14),
    "rocm: title alone": ("== Link Type between two GPUs ==", "no-rows", 1, 1),
    "rocm: other GPUs": (
        ROCM + ROCM.replace("Link Type", "Hops").replace("GPU1", "GPU2").replace("XGMI", "1"),
        "other-gpus",
        6,
        1,
    ),
    "rocm: node of an unknown GPU": (ROCM + "GPU[7]  : (Topology) Numa Node: 0\n", "device-twice", 5, 1),
    "rocm: too many": (
        "== Hops between two GPUs ==\n " + " ".join(f"GPU{number}" for number in range(129)),
        "too-many",
        2,
        1,
    ),
    "too long": ("x" * 200_001, "too-long", 1, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_refused_at_its_place(name: str) -> None:
    text, key, line, column = CASES[name]
    with pytest.raises(TopologyError) as refused:
        read_topology(text)
    error = refused.value
    assert (error.key, error.line, error.column) == (key, line, column), str(error)
    assert f"line {line}, column {column}: " in str(error)


def test_every_reason_has_a_case() -> None:
    keys = {name.partition(".")[2] for name in SENTENCES if name.startswith("refused.")}
    assert keys == {key for _, key, _, _ in CASES.values()}
    assert keys == {name.partition(".")[2] for name in SENTENCES if name.startswith("remedy.")}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        f"me@box:~$ nvidia-smi topo -m\n{GOOD}\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
        GOOD.replace("\t", "     "),
        GOOD.replace("\tGPU0\tGPU1", "\t\x1b[4mGPU0\tGPU1").replace("NUMA Affinity\n", "NUMA Affinity\x1b[0m\n"),
        GOOD.replace("\tGPU0", "\u00a0GPU0", 1),
        GOOD.replace("NIC0", "mlx5_0"),
        GOOD.replace("\t0-7\t0", "\t0-7\t\t0").replace("\t8-15\t1", "\t8-15\t\t1"),
        GOOD.replace("Affinity\n", "Affinity\tGPU NUMA ID\n")
        .replace("\t0\n", "\t0\t\tN/A\n")
        .replace("\t1\n", "\t1\t\tN/A\n"),
        GOOD.replace("NIC0", "bnxt_re0"),
        GOOD.replace("NIC0", "roceP2p1s0f0"),
        GOOD.replace("NIC0", "mlx5_bond_0"),
        f"GPU topology:\n{GOOD}\nVersions of relevant libraries:\n[pip3] numpy==2.1\n",
        GOOD.replace("\t0-7\t0\n", "\t0-7\t0\t\n"),
    ],
)
def test_same_matrix_in_other_surroundings_has_the_same_links(text: str) -> None:
    found = read_topology(text)
    assert found.gpus == ("GPU0", "GPU1")
    assert [found.link("GPU0", each) for each in found.devices] == [None, "NV4", "PIX"]
    assert found.link("GPU1", found.nics[0]) == "SYS"
    assert found.numa == {"GPU0": "0", "GPU1": "1"}
    assert found.cpus == {"GPU0": "0-7", "GPU1": "8-15"}


def test_cut_rows_of_network_cards_leave_only_their_links_unknown() -> None:
    text = "\tGPU0\tNIC0\tNIC1\nGPU0\tX\tPIX\tSYS\nNIC0\tPIX\tX\tPI"
    found = read_topology(text)
    assert found.links == {("GPU0", "NIC0"): "PIX", ("GPU0", "NIC1"): "SYS"}
    assert [(note.key, note.values["name"]) for note in found.notes] == [("cut-cards", "NIC0")]


def test_empty_list_of_cpus_leaves_the_numa_node_known() -> None:
    """As in a job whose CPUs are all on the other socket."""
    text = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t1\t\tN/A\n"
    found = read_topology(text)
    assert (found.cpus, found.numa, found.notes) == ({}, {"GPU0": "1"}, [])


def test_missing_affinity_is_left_out_and_not_guessed() -> None:
    text = "        GPU0    CPU Affinity    NUMA Affinity   GPU NUMA ID\nGPU0     X      0-15            0\n"
    found = read_topology(text)
    assert (found.cpus, found.numa) == ({}, {})
    assert [note.key for note in found.notes] == ["no-affinity"]
