"""Escape untrusted text as Markdown that displays exactly this text."""

import re

_SPACES = re.compile(r"[^\S\u00a0]+")
_ACTIVE = re.compile(
    r"[!-$&-+<-@\[-`{-~]"  # all punctuation except the characters below, and `,`, `;` and `%`, which are never markup
    r"|(?<![^\W_])[-./:]"  # at the start of a word
    r"|[-/](?![^\W_])|(?<=\d)\.(?![^\W_])|:(?=\S)"  # at the end of a word: a list's number, a URL's scheme
)
"""Punctuation that Markdown may read as markup. Escaping every comma as well would make pages larger."""


def one_line(value: str) -> str:
    """Return a text with line breaks and runs of spaces as one space; non-breaking spaces are kept."""
    return _SPACES.sub(" ", value).strip()


def fence(value: str, info: str) -> str:
    """Return a text as a fenced block that it cannot close; ``info`` is a language, or attributes in braces."""
    mark = "`" * max([3, *(1 + len(run) for run in re.findall("`+", value))])
    return f"{mark}{' ' * info.startswith('{')}{info}\n{value}\n{mark}"


def text(value: object) -> str:
    """Return a value's text as Markdown that displays exactly its characters; runs of spaces become one."""
    return _ACTIVE.sub(lambda match: f"&#{ord(match[0])};", one_line(str(value)))
