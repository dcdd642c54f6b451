"""`headroom topology`: its text, its JSON, its drawing and its refusals."""

import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from headroom.cli import OK, USAGE, main
from headroom.pictures import box_topology, standalone
from headroom.topology import read_topology, report
from made_topologies import MADE
from topology_texts import FOLDER, TEXTS

COLOURS = Path(__file__).parents[2] / "docs/assets/style/colours.css"


def text_file(folder: Path, text: str) -> str:
    """Return the path of a file with a text."""
    file = folder / "topo.txt"
    file.write_text(text, "utf-8")
    return str(file)


def test_text_has_summary_slowest_pair_findings_limits_and_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topology", text_file(tmp_path, MADE["gpu without NVLink"])]) == OK
    printed = capsys.readouterr().out
    assert "8 GPUs: NVLink (NV18) joins GPUs in groups: GPU0, GPU1 and GPU3 to GPU7." in printed
    assert "Slowest: GPU0 to GPU2, SYS (7 of 28 pairs)" in printed
    assert "likely fault: GPU2: no NVLink, and NVLink joins all of GPU0, GPU1 and GPU3 to GPU7." in printed
    assert "Whether direct copies work" in printed
    assert "TP: Inside a group only, so at most 7 GPUs" in printed


def test_standard_input_gives_the_same_json_as_the_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TEXTS["hybrid-cube-mesh"]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    assert main(["topology", "-", "--json"]) == OK
    expected = report(read_topology(text)).to_dict()
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected))


def test_refusal_names_file_line_column_and_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FOLDER / "texts/lost-header-and-nvlink.txt")
    assert main(["topology", file]) == USAGE
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.startswith(f"{file}:1:1: cannot be read: the row GPU0 has no header above it")
    assert "Copy the whole output" in printed.err
    assert "GPU2 without NVLink" in printed.err
    assert main(["topology", file, "--json"]) == USAGE
    assert json.loads(capsys.readouterr().out)["refused"]["line"] == 1


@pytest.mark.parametrize(("content", "message"), [(None, "No such file"), (b"\xff\xfeG", "is not UTF-8 text")])
def test_unreadable_file_is_named(
    tmp_path: Path, content: bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "topo.txt"
    if content is not None:
        file.write_bytes(content)
    assert main(["topology", str(file)]) == USAGE
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", [*TEXTS, *MADE])
def test_drawing_is_xml_within_its_frame_and_names_every_device(name: str, tmp_path: Path) -> None:
    text = {**TEXTS, **MADE}[name]
    drawing = tmp_path / "box.svg"
    if main(["topology", text_file(tmp_path, text), "--svg", str(drawing)]) != OK:
        assert not drawing.exists()
        return
    found = read_topology(text)
    root = ET.fromstring(drawing.read_text("utf-8"))  # noqa: S314 - our own text
    for layout in root.iter("{http://www.w3.org/2000/svg}svg"):
        if "viewBox" not in layout.attrib:
            continue
        _, _, width, height = map(float, layout.attrib["viewBox"].split())
        places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in layout if "x" in each.attrib]
        assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
        words = " ".join("".join(each.itertext()) for each in layout)
        assert all(gpu.replace("GPU", "GPU ") in words for gpu in found.gpus)
        if found.links:
            assert all(re.search(rf"\b{nic}\b", words) for nic in found.nics)


def test_faulty_gpu_and_slowest_pair_stand_out() -> None:
    drawn = standalone.standalone(box_topology.picture(report(read_topology(MADE["gpu without NVLink"]))))
    assert drawn.count('class="p-bad"') == 2
    assert 'class="rd"' in drawn
    healthy = standalone.standalone(box_topology.picture(report(read_topology(TEXTS["eight-nv18"]))))
    assert "p-bad" not in healthy


def test_colours_of_a_single_drawing_are_those_of_the_site() -> None:
    style = COLOURS.read_text("utf-8")
    light, dark = (dict(re.findall(r"--(\w+): (#\w+);", part)) for part in style.split("@media screen"))
    assert {name: light[name] for name in standalone.LIGHT} == standalone.LIGHT
    assert {name: dark[name] for name in standalone.DARK} == standalone.DARK
