"""Match the glossary's terms in texts, in all their spellings."""

import re
from collections.abc import Iterable, Mapping

from headroom.records.terms import Term


def spellings(term: Term) -> tuple[str, ...]:
    """Return a term's name and its other spellings."""
    return (term.name, *term.also)


def pattern(terms: Iterable[Term]) -> re.Pattern[str]:
    """Return a pattern that matches any of these terms, the longest first, in the singular or the plural.

    Terms with a capital after their first letter are abbreviations and match exactly; other terms match in any case.
    """
    words = sorted({word for term in terms for word in spellings(term)}, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_spelled, words))})(?![\w-])")


def owners(terms: Mapping[str, Term]) -> dict[str, str]:
    """Return the term of each spelling by its key; the first term if several share it."""
    found: dict[str, str] = {}
    for name, term in terms.items():
        for spelling in spellings(term):
            found.setdefault(key(spelling), name)
    return found


def key(word: str) -> str:
    """Return a spelling in lower case, with single spaces and without the plural's `s`."""
    return re.sub(r"\s+", " ", word).lower().removesuffix("s")


def _spelled(word: str) -> str:
    written = re.escape(word).replace(r"\ ", r"\s+")
    ending = "" if word.endswith("s") else "s?"
    return f"{written}{ending}" if _is_exact(word) else f"(?i:{written}{ending})"


def _is_exact(word: str) -> bool:
    return any(letter.isupper() for letter in word[1:])
