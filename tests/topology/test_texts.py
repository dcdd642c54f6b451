"""Published texts: what the reader answers or refuses, and that no change of a text gives another answer unnoticed."""

import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from headroom.topology import Topology, TopologyError, read_topology, report
from headroom.topology.codes import PCIE_CODES
from made_topologies import MADE
from topology_texts import FOLDER, TEXTS, mutations

EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yml").read_text("utf-8"))
CODE = re.compile(rf"(?<=[ \t])(?:{'|'.join(PCIE_CODES)}|NV[0-9]+)(?=[ \t\n])")

ROW = re.compile(r"(?:GPU|NIC|mlx5_)[0-9]")


def tried(text: str) -> tuple[Topology | None, TopologyError | None]:
    """Return what is read and reported, or the refusal."""
    try:
        found = read_topology(text)
    except TopologyError as error:
        return None, error
    assert report(found).to_dict()["summary"]
    return found, None


def answered(text: str) -> Topology | None:
    """Return what is read, or None if the text is refused."""
    return tried(text)[0]


def short(text: str) -> dict[str, Any]:
    """Return the summary and the findings, or the place and the key of the refusal."""
    try:
        found = report(read_topology(text))
    except TopologyError as error:
        return {
            "refused": f"{error.key} at {error.line}:{error.column}",
            **({"seen": [*error.seen]} if error.seen else {}),
        }
    findings = [f"{each.level} {each.code}" for each in found.findings]
    slowest = {"slowest": " ".join(found.slowest_pair)} if found.slowest_pair else {}
    return {"summary": found.summary, **slowest, **({"findings": findings} if findings else {})}


def test_every_text_has_its_source_and_its_expected_answer() -> None:
    sources = yaml.safe_load((FOLDER / "sources.yml").read_text("utf-8"))
    assert set(sources) == set(TEXTS)
    assert all(address.startswith("https://") for address in sources.values())
    assert set(EXPECTED) == {*TEXTS, *MADE}


@pytest.mark.parametrize("name", [*TEXTS, *MADE])
def test_answer_is_the_expected_one(name: str) -> None:
    """Each was judged by hand against its text."""
    assert short({**TEXTS, **MADE}[name]) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if answered(text)])
def test_cut_text_is_refused_or_has_the_links_of_the_whole_one(name: str) -> None:
    """At every third character; a text that is answered has the link of every pair of GPUs."""
    whole = read_topology(TEXTS[name])
    for end in range(0, len(TEXTS[name]), 3):
        found = answered(TEXTS[name][:end])
        if found is None or not found.links:
            continue
        assert found.gpus == whole.gpus
        assert found.gpu_pairs() == whole.gpu_pairs()
        assert found.links.items() <= whole.links.items()


def test_changed_code_of_a_pair_is_refused_in_its_line() -> None:
    """Or in the line of the other half of the matrix, which does not agree with it."""
    draw = random.Random(1)  # noqa: S311 - no secret
    tried = 0
    for name, text in TEXTS.items():
        whole = answered(text)
        if (
            whole is None
            or whole.command != "nvidia-smi topo -m"
            or any(note.key == "cut-cards" for note in whole.notes)
        ):
            continue
        matrix = "\n".join(row if ROW.match(row) else " " * len(row) for row in text.split("\n"))
        for match in draw.sample(list(CODE.finditer(matrix)), k=min(8, len(CODE.findall(matrix)))):
            other = draw.choice([code for code in (*PCIE_CODES, "NV3") if code != match.group()])
            changed = text[: match.start()] + other + text[match.end() :]
            with pytest.raises(TopologyError) as refused:
                read_topology(changed)
            assert refused.value.key == "asymmetric", name
            assert refused.value.line >= text.count("\n", 0, match.start()) + 1
            tried += 1
    assert tried > 50


def test_a_thousand_mutations_are_answered_or_refused_with_a_place() -> None:
    for name, text in mutations(1000, 7):
        found, error = tried(text)
        if error:
            lines = re.split("\r\n|\r|\n", text)
            assert 1 <= error.line <= len(lines), name
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1, name
            assert error.problem, name
            assert error.remedy.endswith("."), name
        if found and found.links and not found.command.startswith("rocm"):
            assert {*combinations(found.gpus, 2)} <= set(found.links), name


def test_longer_text_than_any_output_is_refused() -> None:
    with pytest.raises(TopologyError, match="more than 200000 characters"):
        read_topology("GPU0 " * 50_000)


def test_sources_name_no_local_file() -> None:
    assert "file index" not in Path(FOLDER / "sources.yml").read_text("utf-8")
