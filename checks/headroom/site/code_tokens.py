"""The markup of highlighted code."""

import re

_PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')
"""A name or a space: it has the colour of the text that it stands in."""


def without_plain(html: str) -> str:
    """The HTML of a page, with no element around a token that looks as the code around it does."""
    return _PLAIN.sub(r"\1", html)
