"""What a script printed, as the record of its run keeps it and a page shows it."""

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from headroom.io.safe_read import HIDDEN

LINES, CHARACTERS = 60, 4_000  # of its end
_CUT = "…"
"""Stands where something was left out."""
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_NAME = r"[^\s/\\\"'<>|:,;()\[\]]"
# A path from the top of a machine: two names at least, and no part of an address, a fraction or a name of the hub.
_PATH = re.compile(rf"(?:file://|(?<![\w.:/…~\\-]))(?:[A-Za-z]:\\|~/|/+)(?:{_NAME}+[/\\]+)+(?P<name>{_NAME}*)")


def kept(stdout: str) -> str:
    """The end of what was printed, without what only a terminal or only this machine knows.

    Of a line that was written over, its last state stays. Of a path on the machine, the last name stays.
    """
    rows = [_last_state(row) for row in _COLOURS.sub("", stdout).split("\n")]
    text = _PATH.sub(lambda match: f"{_CUT}/{match['name']}", HIDDEN.sub("", "\n".join(rows)))
    return _end("\n".join(row.rstrip() for row in text.split("\n")).strip("\n"))


def _last_state(row: str) -> str:
    return row.rstrip("\r").rpartition("\r")[2]


def _end(text: str) -> str:
    """The last lines that fit; the mark before them is a line as well."""
    rows = text.split("\n")
    if len(rows) <= LINES and len(text) <= CHARACTERS:
        return text
    found = "\n".join(rows[-(LINES - 1) :])
    room = CHARACTERS - len(_CUT) - 1
    if len(found) > room:
        found = found[-room:]
        found = found.partition("\n")[2] or found  # whole lines, where one fits
    return f"{_CUT}\n{found}"


def _as_kept(text: str) -> str:
    if text != kept(text):
        raise ValueError(
            "is not what a record keeps of an output: it holds a path of the machine, a control character, blanks at "
            f"an end or more than {LINES} lines; write it with `headroom snippets run --record`"
        )
    return text


Printed = Annotated[str, StringConstraints(min_length=1, max_length=CHARACTERS), AfterValidator(_as_kept)]
