"""Test notebooks: reading with line numbers, running, and comparing outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from headroom import rules
from headroom.io.safe_read import UnreadableError
from headroom.pages.source import load_pages, parse_notebook
from headroom.records import notebooks as reading

pytest.importorskip("nbclient", reason="nbclient is not installed")
from headroom.execution import notebook_run as running

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(path for path in (ROOT / "docs").rglob("*.ipynb") if path.parent.name[0] != ".")


def cell(kind: str, source: str, *, outputs: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return one cell of a notebook's JSON."""
    found: dict[str, Any] = {"cell_type": kind, "id": "x", "metadata": {}, "source": source.splitlines(keepends=True)}
    return found | ({"execution_count": None, "outputs": outputs or []} if kind == "code" else {})


def notebook(*cells: dict[str, Any], **meta: Any) -> str:
    """Return the text of a notebook."""
    named = [each | {"id": f"cell-{i}"} for i, each in enumerate(cells)]
    return reading.dumps({"cells": named, "metadata": {"headroom": meta}, "nbformat": 4, "nbformat_minor": 5})


def shows(text: str) -> list[dict[str, Any]]:
    """Return the outputs of a cell that prints this text."""
    return [{"name": "stdout", "output_type": "stream", "text": [text]}]


class TestReading:
    """Every problem of a notebook names a line of its file."""

    def test_links_have_their_line_and_position(self) -> None:
        """Quotation marks, backslashes and empty cells before a link do not shift it."""
        words = 'A "b" \\c [1.9×](claim:a.b#ratio@h200),\nand [worse](claim:a.c "contradicted").\n'
        text = notebook(cell("markdown", ""), cell("code", "x = '[no](claim:x.y)'"), cell("markdown", words), title="T")
        page = parse_notebook("docs/page.ipynb", text)
        assert [(link.href, link.title) for link in page.links] == [
            ("claim:a.b#ratio@h200", None),
            ("claim:a.c", "contradicted"),
        ]
        assert [text[page.place(link.start) : page.place(link.end)] for link in page.links] == ["1.9×", "worse"]
        assert [link.text in text.splitlines()[link.line - 1] for link in page.links] == [True, True]
        assert page.meta == {"title": "T"}

    def test_fences_are_read_from_markdown_cells_only(self) -> None:
        fenced = "```python\nx\n```"
        page = parse_notebook("docs/page.ipynb", notebook(cell("code", fenced), cell("markdown", fenced)))
        assert [fence.language for fence in page.fences] == ["python"]

    @pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"nbformat": 4}', "[" * 100_000])
    def test_invalid_notebook_is_refused(self, text: str) -> None:
        with pytest.raises(UnreadableError):
            reading.parse(text)

    @pytest.mark.parametrize("source", [None, "text", 3, ["a\nb\n"], [1]])
    def test_source_that_is_not_a_list_of_lines_is_refused(self, source: object) -> None:
        """Jupyter writes a list of lines, so each line of a cell has a line number in the file."""
        with pytest.raises(UnreadableError, match="cell 1"):
            reading.parse(notebook(cell("markdown", "x") | {"source": source}))

    @pytest.mark.parametrize(
        "change",
        [{"outputs": 1}, {"outputs": [1]}, {"metadata": []}, {"metadata": {"tags": 1}}, {"cell_type": "other"}],
    )
    def test_cell_with_invalid_fields_is_refused(self, change: dict[str, Any]) -> None:
        with pytest.raises(UnreadableError, match="cell 1"):
            reading.parse(notebook(cell("code", "x") | change))

    def test_jupyter_checkpoints_are_no_pages(self, tmp_path: Path) -> None:
        for name in ("docs/a.ipynb", "docs/.ipynb_checkpoints/a-checkpoint.ipynb"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(notebook(cell("markdown", "x")), "utf-8")
        pages, problems = load_pages(tmp_path)
        assert ([page.path for page in pages], problems) == (["docs/a.ipynb"], [])

    def test_fix_rewrites_only_the_figure(self, tmp_path: Path) -> None:
        clean = ROOT / "tests/rule_cases/clean"
        right = (clean / "docs/concepts/counting.ipynb").read_text("utf-8")
        for path in clean.rglob("*"):
            if path.is_file():
                (tmp_path / path.relative_to(clean)).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path.relative_to(clean)).write_bytes(path.read_bytes())
        wrong = tmp_path / "docs/concepts/counting.ipynb"
        wrong.write_text(right.replace("[1.43×]", "[10.44×]"), "utf-8")
        assert [fix.text for fix in rules.apply(tmp_path, rules.Context.of(tmp_path))] == ["1.43×"]
        assert wrong.read_text("utf-8") == right


@pytest.mark.slow
class TestRunning:
    """Runs in a fresh kernel."""

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
    def test_stored_outputs_equal_those_of_a_run(self, path: Path) -> None:
        found = running.run(path, ROOT)
        assert not found, "\n\n".join(f"cell {each.cell} of {path.name}:\n{each.diff}" for each in found)

    def test_difference_names_its_cell(self) -> None:
        """The first cell is equal; standard error does not count."""
        text = notebook(
            cell("code", "print(2)", outputs=shows("2\n")),
            cell("code", "import sys\nprint(3)\nprint(4, file=sys.stderr)", outputs=shows("5\n")),
        )
        (found,) = running.differences(text, running.execute(text))
        assert found.cell == 2
        assert '-   "5\\n"' in found.diff
        assert '+   "3\\n"' in found.diff

    def test_failed_cell_is_named_with_its_error(self) -> None:
        text = notebook(cell("markdown", "Text."), cell("code", "x = 1"), cell("code", "assert x == 2, 'it is not'"))
        with pytest.raises(running.NotebookError, match="cell 3 fails: AssertionError: it is not"):
            running.execute(text)


class TestStored:
    """Stored outputs."""

    def test_the_project_has_a_notebook(self) -> None:
        """The tests above run once per notebook, so there must be one."""
        assert NOTEBOOKS

    @pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
    def test_notebook_has_no_times_or_machine_names(self, path: Path) -> None:
        text = path.read_text("utf-8")
        assert text == reading.dumps(running.clean(json.loads(text)))

    def test_counters_metadata_and_object_names_are_removed(self) -> None:
        output = {
            "data": {"text/html": "<b>", "text/plain": "<HTML object at 0x1>"},
            "execution_count": 3,
            "metadata": {"a": 1},
        }
        ran = cell("code", "x", outputs=[output]) | {
            "execution_count": 3,
            "metadata": {"tags": ["folded"], "execution": {}},
        }
        metadata = {"kernelspec": {"name": "mine"}, "language_info": {"version": "3.11"}}
        (found,) = running.clean({"cells": [ran], "metadata": metadata})["cells"]
        assert found["outputs"] == [{"data": {"text/html": "<b>"}, "execution_count": None, "metadata": {}}]
        assert (found["metadata"], found["execution_count"]) == ({"tags": ["folded"]}, None)
