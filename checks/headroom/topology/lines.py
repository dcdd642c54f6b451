"""A pasted text as lines and cells with their places."""

import re
from dataclasses import dataclass
from typing import Final

from headroom.topology.errors import TopologyError

MOST_CHARACTERS: Final = 200_000
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\[[0-9;]{1,4}m")
"""Colours of a terminal, also where a log has lost the escape character."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line without blanks, and the column where it begins."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text, counted from 1."""

    number: int
    text: str

    @property
    def end(self) -> int:
        """The column after the last character that is no blank."""
        return len(self.text.rstrip(" \t")) + 1

    def words(self) -> list[Cell]:
        """Return the cells between blanks and tabs."""
        return [Cell(match.group(), match.start() + 1) for match in re.finditer(r"[^ \t]+", self.text)]

    def fields(self) -> list[Cell]:
        """Return the cells between tabs, of which some may be empty; between blanks if the line has no clean tabs."""
        found, column = [], 1
        for piece in self.text.split("\t"):
            blank = len(piece) - len(piece.lstrip(" "))
            found.append(Cell(piece.strip(" "), column + (blank if piece.strip(" ") else 0)))
            column += len(piece) + 1
        tabbed = len(found) > 1 and found[0].text and not any(" " in each.text for each in found)
        return found if tabbed else self.words()

    @property
    def tabbed(self) -> bool:
        """Whether `fields` splits this line at tabs."""
        pieces = [piece.strip(" ") for piece in self.text.split("\t")]
        return len(pieces) > 1 and bool(pieces[0]) and not any(" " in each for each in pieces)


def read_lines(text: str) -> list[Line]:
    """Return the lines, with blanks in place of a terminal's colours.

    Raises:
        TopologyError: the text is longer than any such output.
    """
    if len(text) > MOST_CHARACTERS:
        raise TopologyError("too-long", 1, 1, most=MOST_CHARACTERS)
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    plain = _ESCAPES.sub(lambda match: " " * len(match.group()), plain)
    return [Line(number, each) for number, each in enumerate(plain.split("\n"), 1)]
