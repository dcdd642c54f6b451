"""Replace the note `no-claim: unproven` with the words "not measured"."""

import re
from xml.etree.ElementTree import Element

from markdown.inlinepatterns import InlineProcessor

HREF = "unproven:"
PATTERN = r"<!--\s*no-claim:\s*unproven\s*-->"
_ALONE = re.compile(rf"^(?P<indent>\s*){PATTERN}\s*$")


def with_marks(lines: list[str]) -> list[str]:
    """Replace each note that is alone on its line with an empty link.

    Python-Markdown parses such a line as a block of HTML, which inline processors do not see.
    """
    found = ((_ALONE.match(line), line) for line in lines)
    return [f"{match['indent']}[]({HREF})" if match else line for match, line in found]


def fill(element: Element) -> None:
    """Turn an element into the mark that readers see."""
    element.tag = "small"
    element.attrib.clear()
    element.set("class", "unproven")
    element.text = "not measured"


class Mark(InlineProcessor):
    """The inline processor for notes behind a sentence."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element, int, int]:  # type: ignore[override]  # noqa: ARG002, N802 - as Python-Markdown calls it
        """Return the mark that replaces the note."""
        element = Element("small")
        fill(element)
        return element, m.start(0), m.end(0)
