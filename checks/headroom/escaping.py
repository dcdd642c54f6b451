"""Texts of strangers as Markdown that shows them and does nothing else."""

import re

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


def text(value: object) -> str:
    """A text as Markdown that shows exactly these characters, whatever they are; runs of spaces become one."""
    return _PUNCTUATION.sub(lambda match: f"&#{ord(match[0])};", " ".join(str(value).split()))
