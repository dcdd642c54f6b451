"""What each page is for, and what a guide's sections begin with."""

import re
from pathlib import Path

from headroom.prose.markup import without_fences
from headroom.prose.pages import TYPES, load_pages
from headroom.records import load

ROOT = Path(__file__).parents[2]
ANSWER = ("**Do this", "**The rule")


def section(text: str, anchor: str, level: int) -> str:
    """The section of an anchor, or that of a level which it stands in, whichever begins later."""
    prose = without_fences(text)  # as long as the text: a comment in a script is no heading
    starts = [match.start() for match in re.finditer(rf"(?m)^#{{2,{level}}} ", prose)]
    place = prose.index(f"{{#{anchor}}}")
    first = max(start for start in starts if start <= place)
    return text[first : min((start for start in starts if start > place), default=len(text))]


class TestPages:
    def test_every_page_says_what_it_is_for(self) -> None:
        """By its type in the front matter; only the start leads to all others."""
        pages, problems = load_pages(ROOT)
        assert problems == []
        assert [page.path for page in pages if page.meta.get("type") not in TYPES] == []
        assert [page.path for page in pages if page.meta["type"] == "start"] == ["docs/index.md"]

    def test_methods_stand_in_guides(self) -> None:
        """A method's section is on a page that solves a reader's problem."""
        types = {page.path: page.meta["type"] for page in load_pages(ROOT)[0]}
        sections = [method.section.partition("#")[0] for method in load(ROOT).methods.values()]
        assert {types[f"docs/{page}"] for page in sections} == {"guide"}


class TestTemplate:
    def test_a_methods_section_answers_first_and_shows_how(self) -> None:
        """Its first bold words, or those of the section around it, are the answer, and code or a table shows how."""
        methods = load(ROOT).methods.values()
        for method in methods:
            page, _, anchor = method.section.partition("#")
            text = (ROOT / "docs" / page).read_text("utf-8")
            parts = [section(text, anchor, level) for level in (2, 3)]
            assert any(part[part.index("**") :].startswith(ANSWER) for part in parts), method.id
            assert re.search(r"(?m)^ *(```|\|)", parts[0]), method.id
