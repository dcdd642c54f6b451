"""Trim the captured output of a script for its run record: last lines, no colours, no absolute paths."""

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from headroom.io.safe_read import HIDDEN

LINES, CHARACTERS = 60, 4_000  # limits of the recorded end
_CUT = "…"
"""Marks an omission."""
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_NAME = r"[^\s/\\\"'<>|:,;()\[\]]"
# An absolute path of at least two names; not a part of a URL, a fraction or a name on the Hugging Face Hub.
_PATH = re.compile(rf"(?:file://|(?<![\w.:/…~\\-]))(?:[A-Za-z]:\\|~/|/+)(?:{_NAME}+[/\\]+)+(?P<name>{_NAME}*)")


def trimmed(stdout: str) -> str:
    """Return the end of an output, without terminal control codes and absolute paths.

    A line that was overwritten is reduced to its last state, and an absolute path to its last name.
    """
    rows = [_last_state(row) for row in _COLOURS.sub("", stdout).split("\n")]
    text = _PATH.sub(lambda match: f"{_CUT}/{match['name']}", HIDDEN.sub("", "\n".join(rows)))
    return _end("\n".join(row.rstrip() for row in text.split("\n")).strip("\n"))


def _last_state(row: str) -> str:
    return row.rstrip("\r").rpartition("\r")[2]


def _end(text: str) -> str:
    """Return the last lines that fit, after a line with the omission mark."""
    rows = text.split("\n")
    if len(rows) <= LINES and len(text) <= CHARACTERS:
        return text
    found = "\n".join(rows[-(LINES - 1) :])
    limit = CHARACTERS - len(_CUT) - 1
    if len(found) > limit:
        found = found[-limit:]
        found = found.partition("\n")[2] or found  # whole lines, if one fits
    return f"{_CUT}\n{found}"


def _is_trimmed(text: str) -> str:
    if text != trimmed(text):
        raise ValueError(
            "the output is not trimmed: it contains an absolute path, a control character, trailing blanks or more "
            f"than {LINES} lines; write the record with `headroom snippets run --record`"
        )
    return text


Printed = Annotated[str, StringConstraints(min_length=1, max_length=CHARACTERS), AfterValidator(_is_trimmed)]
