"""Texts of strangers as Markdown that shows them and does nothing else."""

import re

_SPACES = re.compile(r"[^\S\u00a0]+")
_ACTIVE = re.compile(
    r"[!-$&-+<-@\[-`{-~]"  # all punctuation but what follows, and but `,`, `;` and `%`, which are never marks
    r"|(?<![^\W_])[-./:]"  # what begins something
    r"|[-/](?![^\W_])|(?<=\d)\.(?![^\W_])|:(?=\S)"  # what ends something: a list's number, an address's scheme
)
"""The punctuation that Markdown may take for a mark. An entity for every comma would make pages costly."""


def one_line(value: str) -> str:
    """A text without line breaks and runs of spaces; the spaces that hold a figure to its unit stay."""
    return _SPACES.sub(" ", value).strip()


def fence(value: str, info: str) -> str:
    """A text as a fence that it cannot end; what is said of it is a language, or attributes in braces."""
    mark = "`" * max([3, *(1 + len(run) for run in re.findall("`+", value))])
    return f"{mark}{' ' * info.startswith('{')}{info}\n{value}\n{mark}"


def text(value: object) -> str:
    """A text as Markdown that shows exactly these characters, whatever they are; runs of spaces become one."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", one_line(str(value)))
