"""Types of pages, and the template of a method's section."""

import re
from pathlib import Path

from headroom.pages.markdown_syntax import without_fences
from headroom.pages.source import TYPES, load_pages
from headroom.records import load

ROOT = Path(__file__).parents[2]
ANSWER = re.compile(r"#+ .*\n(\n|<!--.*-->\n|```text\n(?:(?!```).*\n)*```\n)*\*\*")  # an error's text may precede it


def section(text: str, anchor: str, level: int) -> str:
    """Return the innermost section, of headings up to a level, that contains an anchor."""
    prose = without_fences(text)  # same positions; a comment in a script is no heading
    starts = [match.start() for match in re.finditer(rf"(?m)^#{{1,{level}}} ", prose)]
    place = prose.index(f"{{#{anchor}}}")
    first = max(start for start in starts if start <= place)
    return text[first : min((start for start in starts if start > place), default=len(text))]


class TestPages:
    def test_every_page_has_a_type(self) -> None:
        """Only docs/index.md has the type `start`."""
        pages, problems = load_pages(ROOT)
        assert problems == []
        assert [page.path for page in pages if page.meta.get("type") not in TYPES] == []
        assert [page.path for page in pages if page.meta["type"] == "start"] == ["docs/index.md"]

    def test_sections_of_methods_are_in_guides(self) -> None:
        """No other type of page has one."""
        types = {page.path: page.meta["type"] for page in load_pages(ROOT)[0]}
        sections = [method.section.partition("#")[0] for method in load(ROOT).methods.values()]
        assert {types[f"docs/{page}"] for page in sections} == {"guide"}


class TestTemplate:
    def test_a_methods_section_begins_with_the_answer_and_shows_how(self) -> None:
        """The section, or its parent, begins with a bold sentence; code, a table, a picture or a list shows how."""
        methods = load(ROOT).methods.values()
        for method in methods:
            page, _, anchor = method.section.partition("#")
            text = (ROOT / "docs" / page).read_text("utf-8")
            parts = [section(text, anchor, level) for level in (2, 3)]
            assert any(map(ANSWER.match, parts)), method.id
            shown = text if parts[0].startswith("# ") else parts[0]  # a page of one method
            assert re.search(r"(?m)^ *(```|\||\[.*\]\(estimate-table:|!\[|1\. |- )", shown), method.id
