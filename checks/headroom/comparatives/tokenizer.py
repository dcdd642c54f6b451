"""Tokenize a sentence and tag its words with the families of the lexicon."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from headroom.comparatives.lexicon import COMPARED
from headroom.comparatives.lexicon.exclusions import EXCLUDED
from headroom.comparatives.lexicon.word_senses import SENSES

_UNITS = {
    "percent": r"%|percent(?:age points?)?\b|per\s?cent\b|points\b",
    "factor": r"[x×](?!\w)|fold\b|times\b",
    "bytes": r"[KMGT]i?B(?:/s)?\b",
    "bits": r"(?:[kMGT]?bits?|bytes?)\b",
    "rate": r"(?:(?:tok|it)\s?/\s?s|[KMGTP]?FLOPS?(?:/s)?"
    r"|(?:tok(?:en)?s?|requests|samples|images|sequences|steps|frames|queries)\s?(?:/|per |a )\s?s(?:ec|econd)?)\b",
    "steps": r"(?:steps|iterations|epochs)\b",
    "seconds": r"(?:ms|[µu]s|milliseconds?|s|secs?|seconds?|min|minutes?|hours?|days?)\b",
    "energy": r"(?:k?Wh?|joules?)\b",
}
_FIGURES = frozenset([*_UNITS, "number"])
_COUNT = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen|half an?|several|a few"
    r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?|a hundred)"
)
_NUMBER = r"[~≈]?[-+\u2212\u2013]?\d+(?:[.,]\d+)*(?:[BMKk]\b)?(?:\s?(?:-|\u2013|to|or)\s?\d+(?:[.,]\d+)*)?"
_MEASURE = "|".join(f"(?P<{name}>{unit})" for name, unit in _UNITS.items())
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})(?:[\s-]?(?:{_MEASURE}))?"
    rf"|\b(?P<count>{_COUNT})\s(?P<measure>seconds?|minutes?|hours?|days?|percent|gigabytes?|megabytes?|points?)\b"
    r"|(?P<code>x{2,}(?:[ =.,_]+x+)*(?![A-Za-z]))"
    r"|(?P<word>[A-Za-z][A-Za-z0-9]*(?:['\u2019][a-z]+|-[A-Za-z0-9]+)*)"
    r"|(?P<mark>[^\s\w])",
    re.IGNORECASE,
)
_MEASURED = {
    "percent": "percent",
    "gigabyte": "bytes",
    "gigabytes": "bytes",
    "megabyte": "bytes",
    "megabytes": "bytes",
    "point": "percent",
    "points": "percent",
}
CLAUSE = frozenset(",;:.()[]\u2014\u2013?!|")

Span = tuple[int, int]


class Token(NamedTuple):
    """A word in lower case, a mark, a number with its unit, or code, which has no word."""

    word: str
    kind: str


class Tags:
    """The spans of each category in a list of tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        words = [token.word for token in tokens]
        found = defaultdict(list)
        phrases = _phrases()
        for i, (token, following) in enumerate(zip(tokens, [*words[1:], ""], strict=True)):
            if token.kind in _FIGURES:
                found[token.kind].append((i, i + 1))
            for _, category in phrases.get((token.word, ""), ()):
                found[category].append((i, i + 1))
            for rest, category in phrases.get((token.word, following), ()) if following else ():
                end = i + 2 + len(rest)
                if words[i + 2 : end] == rest:
                    found[category].append((i, end))
        self.spans: dict[str, list[Span]] = dict(found)

    def of(self, category: str) -> list[Span]:
        """Return the spans of a category, in order."""
        return self.spans.get(category, [])

    def at(self, category: str, position: int) -> bool:
        """Return whether a phrase of the category begins at a position."""
        spans = self.of(category)
        found = bisect_left(spans, (position, 0))
        return found < len(spans) and spans[found][0] == position

    def only(self, live: list[bool]) -> None:
        """Drop every phrase with a token that is not live."""
        self.spans = {name: [s for s in spans if all(live[s[0] : s[1]])] for name, spans in self.spans.items()}

    def words(self, span: Span) -> str:
        """Return the words of a span."""
        return " ".join(token.word or "code" for token in self.tokens[span[0] : span[1]])


def tokens(shape: str) -> Iterable[Token]:
    """Yield the tokens of a sentence whose code is replaced by x."""
    for match in _TOKEN.finditer(shape):
        kind, word = match.lastgroup or "", match[0]
        if kind == "code" or word == "Accelerate":
            yield Token("", "code")
        elif kind == "measure":
            yield Token(word.lower(), _MEASURED.get(match["measure"].lower(), "seconds"))
        else:
            yield Token(word.lower(), kind)


@cache
def _phrases() -> dict[tuple[str, str], list[tuple[list[str], str]]]:
    """Return the lexicon's phrases by their first two words, each with its other words and its category."""
    table: dict[tuple[str, str], list[tuple[list[str], str]]] = {}
    for category, text in (*COMPARED.items(), *EXCLUDED.items(), *SENSES.items()):
        for phrase in sorted({form for entry in " ".join(text.split()).split(",") for form in _forms(entry.strip())}):
            words = phrase.split()
            if words:
                table.setdefault((words[0], "".join(words[1:2])), []).append((words[2:], category))
    return table


def _forms(phrase: str) -> list[str]:
    """Return a phrase; if one of its words ends in a star, with each ending of the verb."""
    match = re.search(r"(\w+)\*", phrase)
    if match is None:
        return [phrase]
    base = match[1]
    stem = base.removesuffix("e")
    if base.endswith("y"):
        forms = [base, base[:-1] + "ies", base[:-1] + "ied", base + "ing"]
    else:
        third = base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")
        forms = [base, third, stem + "ed", stem + "ing"]
    return [phrase.replace(match[0], form) for form in forms]
