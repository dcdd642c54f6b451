"""Write and find ``TODO(author)`` markers, which scaffolds put where the author must write something."""

import re
from collections.abc import Iterator

MARK = "TODO(author)"
"""The marker; a description of the missing text follows it."""
REMEDY = "write it, and remove the marker"
_END = re.compile(r"[\"{}]|-->|\.? *$")  # end of the description: of the value, the comment or the line


def gap(what: str) -> str:
    """Return a marker for a missing text with this description."""
    return f"{MARK}: {what}"


def gaps(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, of each line with a marker, and the message that reports it."""
    if MARK not in text:
        return
    for number, row in enumerate(text.split("\n"), 1):
        _, found, after = row.partition(MARK)
        if found:
            what = _END.split(after, maxsplit=1)[0].lstrip(": ").rstrip()
            yield number, f"not written yet: {what}" if what else "not written yet"
