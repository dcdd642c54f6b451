"""The page's reader in JavaScript: the same reports, refusals and drawings as Python's."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from headroom.pictures import box_topology
from headroom.pictures.canvas import svg
from headroom.site.topology_tool import script
from headroom.topology import TopologyError, read_topology, report
from made_topologies import MADE
from topology_texts import TEXTS, mutations

ASSETS = Path(__file__).parents[2] / "docs/assets/topology"
DRIVER = """
const texts = JSON.parse(require("node:fs").readFileSync(0, "utf8"))
const found = texts.map(text => {
  try {
    const report = topologyReport.report(topologyReader.read(text))
    const drawn = topologyDrawing.svg(report)
    const layouts = topologyDrawing.layouts(report).map(each => each.text)
    return {report: topologyReport.values(report), layouts, drawn}
  } catch (error) {
    if (!(error instanceof topologyReader.Refusal)) throw error
    return {refused: topologyReader.refused(error)}
  }
})
process.stdout.write(JSON.stringify(found))
"""


def python(text: str) -> dict[str, Any]:
    """Return Python's answer in the form of the driver's."""
    try:
        found = report(read_topology(text))
    except TopologyError as error:
        return {"refused": error.to_dict()}
    drawn = svg(box_topology.picture(found))
    return {"report": json.loads(json.dumps(found.to_dict())), "drawn": drawn}


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that runs the page's reader on texts."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("no Node.js: install the package `nodejs`")
        pytest.skip("no Node.js")
    sources = [
        script(),
        *((ASSETS / f"{name}.js").read_text("utf-8") for name in ("reader", "report", "drawing")),
        DRIVER,
    ]
    file = tmp_path_factory.mktemp("topology") / "reader.cjs"
    file.write_text("\n".join(sources), "utf-8")

    def run(texts: list[str]) -> list[dict[str, Any]]:
        ran = subprocess.run([node, str(file)], input=json.dumps(texts), capture_output=True, text=True, check=False)
        assert not ran.stderr, ran.stderr[-2000:]
        answers: list[dict[str, Any]] = json.loads(ran.stdout)
        return answers

    return run


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Return whether an answer of the page is Python's; of the drawing, the two layouts and the text alternative."""
    if "refused" in expected:
        return found == expected
    layouts = "".join(found["layouts"])
    words = expected["drawn"].partition("<style>")[0]
    drawn = layouts in expected["drawn"] and found["drawn"].partition("<style>")[0] == words
    return drawn and found["report"] == expected["report"]


def test_published_and_made_texts_have_the_same_answers(javascript: Any) -> None:
    texts = [*TEXTS.values(), *MADE.values()]
    names = [*TEXTS, *MADE]
    answers = zip(names, javascript(texts), map(python, texts), strict=True)
    assert [name for name, found, expected in answers if not same(found, expected)] == []


def test_a_thousand_mutations_have_the_same_answers(javascript: Any) -> None:
    """Of which more than a tenth are answered, and more than a tenth are refused."""
    names, texts = zip(*mutations(1000, 20261124), strict=True)
    expected = list(map(python, texts))
    answers = zip(names, javascript(list(texts)), expected, strict=True)
    assert [name for name, found, each in answers if not same(found, each)] == []
    assert min(sum("refused" in each for each in expected), sum("report" in each for each in expected)) > 100


HOSTILE = (
    "\tGPU0\tGPU1\tCPU Affinity" + " " * 150_000 + "x",
    " " * 199_000 + "x",
    "=" * 199_000,
    "between two GPUs\n= " + "a " * 90_000,
    "GPU0" * 49_000,
    "\tGPU0\tGPU1\nGPU0\tX\t" + "NV1" * 60_000,
    "\tGPU0\tGPU1\nGPU0\tX\t" + "NV1" * 60_000 + "Q",
    "\tGPU0\tCPU Affinity\nGPU0\tX\t" + "1," * 90_000,
    "(Topology) Numa Node\n" + " " * 190_000 + "(Topology)",
    "\tGPU0\tGPU1\n" + "GPU0\tX\tNV1\n" * 12_000,
)


def test_hostile_texts_end_and_have_the_same_answers(javascript: Any) -> None:
    """Texts on which a careless pattern takes minutes; the time limit of the tests ends such a run."""
    answers = zip(HOSTILE, javascript(list(HOSTILE)), map(python, HOSTILE), strict=True)
    assert [text[:30] for text, found, expected in answers if not same(found, expected)] == []
