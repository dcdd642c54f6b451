"""Reduce the HTML of highlighted code."""

import re

_PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')
"""A name or a space, which has the colour of the surrounding text."""


def without_plain(html: str) -> str:
    """Remove the elements around tokens that have no colour of their own."""
    return _PLAIN.sub(r"\1", html)
