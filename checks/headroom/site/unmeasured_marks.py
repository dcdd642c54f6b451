"""What a reader sees of a note that nobody has measured a sentence yet: two words behind the sentence."""

import re
from xml.etree.ElementTree import Element

from markdown.inlinepatterns import InlineProcessor

HREF = "unproven:"
PATTERN = r"<!--\s*no-claim:\s*unproven\s*-->"
_ALONE = re.compile(rf"^(?P<indent>\s*){PATTERN}\s*$")


def with_marks(lines: list[str]) -> list[str]:
    """The lines of a page with an empty link in place of a note that stands alone on its line.

    Python-Markdown takes such a line for a block of HTML, so that no inline processor would see it.
    """
    found = ((_ALONE.match(line), line) for line in lines)
    return [f"{match['indent']}[]({HREF})" if match else line for match, line in found]


def fill(element: Element) -> None:
    """Make an element the mark that the reader sees."""
    element.tag = "small"
    element.attrib.clear()
    element.set("class", "unproven")
    element.text = "not measured"


class Mark(InlineProcessor):
    """A note behind a sentence."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # type: ignore[override]  # noqa: ARG002, N802 - as Python-Markdown calls it
        """The mark in the place of the note."""
        element = Element("small")
        fill(element)
        return element, m.start(0), m.end(0)
