"""The words of the glossary, as texts spell them."""

import re
from collections.abc import Iterable, Mapping

from headroom.records.terms import Term


def spellings(term: Term) -> tuple[str, ...]:
    """Its name, and what else it is written as."""
    return (term.name, *term.also)


def pattern(terms: Iterable[Term]) -> re.Pattern[str]:
    """Finds any of these words, the longest first, in the singular or the plural.

    An abbreviation, which has a capital letter behind its first, counts only as it is written; other words in any case.
    """
    words = sorted({word for term in terms for word in spellings(term)}, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_spelled, words))})(?![\w-])")


def owners(terms: Mapping[str, Term]) -> dict[str, str]:
    """Which term each spelling belongs to, by its key; the first where several claim it."""
    found: dict[str, str] = {}
    for name, term in terms.items():
        for spelling in spellings(term):
            found.setdefault(key(spelling), name)
    return found


def key(word: str) -> str:
    """A spelling without what its uses may differ in: spaces, the `s` of a plural, capitals."""
    return re.sub(r"\s+", " ", word).lower().removesuffix("s")


def _spelled(word: str) -> str:
    written = re.escape(word).replace(r"\ ", r"\s+")
    ending = "" if word.endswith("s") else "s?"
    return f"{written}{ending}" if _is_exact(word) else f"(?i:{written}{ending})"


def _is_exact(word: str) -> bool:
    return any(letter.isupper() for letter in word[1:])
