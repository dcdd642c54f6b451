"""Gaps: what only a file's author knows, marked where it is to be written. A scaffold is full of them."""

import re
from collections.abc import Iterator

MARK = "TODO(author)"
"""Marks a gap; what is to be written stands behind it."""
REMEDY = "write it, and remove the mark"
_END = re.compile(r"[\"{}]|-->|\.? *$")  # of the text of a gap: that of the value, the comment or the line


def gap(what: str) -> str:
    """The mark of a gap, with what is to be written there."""
    return f"{MARK}: {what}"


def gaps(text: str) -> Iterator[tuple[int, str]]:
    """Every line of a text with a gap, by its number from 1, and what is to be written there."""
    if MARK not in text:
        return
    for number, row in enumerate(text.split("\n"), 1):
        _, found, after = row.partition(MARK)
        if found:
            what = _END.split(after, maxsplit=1)[0].lstrip(": ").rstrip()
            yield number, f"not written yet: {what}" if what else "not written yet"
