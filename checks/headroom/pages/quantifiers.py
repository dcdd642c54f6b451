"""Match words for how much, how surely and on which hardware, with the ratios that they may describe.

The ranges of ratios are wide, because words are vague: "twice" may describe 1.8 to 2.25.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NOUNS: Final = "memory|time|bytes|peak|size|traffic|costs?|throughput|speed|bandwidth|energy|computation|seconds"
_SHARE: Final = rf"(?:of )?(?:(?:the|its|that|this) )?(?:[\w-]+ )?(?:{_NOUNS})\b"
_COMPARED: Final = r"(?:faster|slower|less|more|smaller|larger|lower|higher|shorter|longer|cheaper)\b"
_AS_MUCH: Final = r"as (?:much|many|long|large|big|fast|slow|high|low)\b"
# The range of ratios around the number of a word: 1.8 to 2.25 for "twice".
_BELOW, _ABOVE = 0.9, 1.125
_ALMOST = 0.9
_NOT: Final = re.compile(r"(?:\b(?:no|not|never|hardly|nor|neither|without)|n't)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_MORE: Final = re.compile(r"\b(?:more than|over|at least|well over)\s+(?:an?\s+)?$", re.IGNORECASE)
_LESS: Final = re.compile(r"\b(?:almost|nearly|up to|not quite|close to|as much as)\s+(?:an?\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Degree:
    """A word and the ratios that it may describe, better over worse, so at least 1."""

    word: str
    start: int
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3g} to {self.high:.3g}" if self.high < float("inf") else f"{self.low:.3g} or more"

    def fits(self, ratio: float) -> bool:
        """Return whether the word may describe a change by this factor, in either direction."""
        return ratio > 0 and self.low <= max(ratio, 1 / ratio) <= self.high


def _of_number(number: float) -> tuple[float, float]:
    return number * _BELOW, number * _ABOVE


_DEGREES: Final[tuple[tuple[str, tuple[float, float]], ...]] = (
    (rf"twice (?:{_AS_MUCH}|{_SHARE})|doubl(?:e|es|ed|ing)\b|twofold|two-fold", _of_number(2)),
    (rf"halv(?:e|es|ed|ing)\b|(?:in|by) half\b(?! an? )|half (?:{_AS_MUCH}|{_SHARE})", _of_number(2)),
    (rf"tripl(?:e|es|ed|ing)\b|threefold|three-fold|third {_SHARE}", _of_number(3)),
    (rf"two[ -]thirds {_SHARE}", _of_number(3 / 2)),
    (rf"three[ -]quarters {_SHARE}", _of_number(4 / 3)),
    (rf"quadrupl(?:e|es|ed|ing)\b|fourfold|four-fold|quarter {_SHARE}", _of_number(4)),
    *(
        (rf"{word} times (?:{_COMPARED}|{_AS_MUCH}|{_SHARE})", _of_number(number))
        for number, word in enumerate(_NUMBERS, 2)
    ),
    (r"orders of magnitude", (80.0, float("inf"))),
    (r"order of magnitude|tenfold|ten-fold", (8.0, 12.5)),
    (r"slightly|marginally|a (?:little|bit|touch)(?= (?:more|less|\w+er)\b)", (1.0, 1.1)),
    (r"(?:significant|considerabl|substantial|notabl|noticeabl)(?:ly|y|e)?\b", (1.25, float("inf"))),
    (r"(?:much|far|many times|a lot)(?= (?:more|less|fewer|better|worse|\w+er)\b)", (1.25, float("inf"))),
    (r"(?:dramatic|drastic|massive|huge|vast|enormous)(?:ally|ly)?\b", (2.0, float("inf"))),
)
_PATTERN: Final = re.compile(
    rf"\b(?:{'|'.join(rf'(?P<d{i}>{words})' for i, (words, _) in enumerate(_DEGREES))})", re.IGNORECASE
)

FREE: Final = re.compile(
    r"\b(?:for free|(?:at|for) (?:no (?:extra |additional )?|zero )(?:cost|price)|costs? nothing|free lunch"
    r"|no (?:extra |additional )?overhead|without (?:any |a )?(?:cost|overhead|slow-?down|loss|slowing))\b",
    re.IGNORECASE,
)
"""Words that promise no cost."""

NO_LOSS: Final = re.compile(r"\b(?:no|not|without|same|free|maintain|preserv|match|lossless|retain)", re.IGNORECASE)
"""Words of a source that support a promise of no cost."""

RESERVED: Final = re.compile(r"\b(?:up to|as much as|at most|at best)\b", re.IGNORECASE)
"""Words that mark a figure as the largest of several."""

ALWAYS: Final = re.compile(
    r"\b(?:always|in (?:all|every) cases?|without exception|invariably|guarantee(?:s|d)?|under all circumstances"
    r"|whatever the [\w-]+|regardless of|no matter (?:how|what|which)|(?:on|for) (?:any|every|all) "
    r"(?:hardware|machines?|devices?|cards?|GPUs?|CPUs?|models?|batch(?:es| sizes?)?|lengths?))\b",
    re.IGNORECASE,
)
"""Words that allow no exception."""

AT_MOST: Final = re.compile(r"\b(?:up to|as much as|at most|at best)\s*$", re.IGNORECASE)
"""Words before a figure that is the largest of several."""
AT_LEAST: Final = re.compile(r"\b(?:at least|at worst)\s*$", re.IGNORECASE)
"""Words before a figure that is the smallest of several."""

TYPED: Final = re.compile(r"(?<![\w.,])\d[\d.,]*(?:\s?(?:×|x\b(?!\s?\d)|%|-fold\b)|\s(?:times|percent|per cent)\b)")
"""A typed figure of a comparison."""

_PRODUCTS: Final = (
    r"[ABHV][1-3]00|GH200|L40?S?|T4|P100|A10G?|A40|A6000|MI\d{3}X?|RTX ?\d{4}|Xeons?|EPYCs?|Apple silicon|TPUs?"
)
_WHICH: Final = "an?|one|two|four|eight|any|every|all|most|both|each|single|modern|recent|newer|older|NVIDIA|AMD|Intel"
PLACE: Final = re.compile(
    rf"\b[Oo]n (?:(?:(?:{_WHICH}|the|our|this|that|\d+)\W+){{0,3}}(?P<product>{_PRODUCTS})"
    rf"|(?:(?:{_WHICH})\W+){{1,3}}(?P<kind>[CG]PU)s?|(?P<kinds>[CG]PU)s)(?![\w-])"
)
"""The hardware that a sentence is about."""


_AMOUNTS: Final = re.compile(
    r"\b(?:(?P<less>less|lower(?:s|ed)?|fewer|smaller|shorter|faster|quicker|reduc\w+|sav(?:es?|ed)|cuts?|halv\w+"
    r"|shrinks?)|(?P<more>more|higher|larger|longer|slower|greater|rais(?:es?|ed)|increas\w+|doubl\w+|grows?))\b",
    re.IGNORECASE,
)
_RATE: Final = {"faster": "more", "quicker": "more", "slower": "less"}  # where the amount is a rate


@lru_cache(maxsize=1024)  # many links have the same words
def directions(text: str, *, rate: bool) -> frozenset[str]:
    """Return whether a text says ``less`` or ``more`` of an amount; negated words are ignored.

    Args:
        text: some words, such as those of a link.
        rate: whether the amount is a rate, such as throughput, which is higher when things are faster.
    """
    found = set()
    for match in _AMOUNTS.finditer(text):
        direction = str(match.lastgroup)
        if not _NOT.search(text[: match.start()]):
            found.add(_RATE.get(match[0].lower(), direction) if rate else direction)
    return frozenset(found)


def degrees(text: str) -> Iterator[Degree]:
    """Yield the words of a text that say how much, without negated ones."""
    for match in _PATTERN.finditer(text):
        before = text[: match.start()]
        if _NOT.search(before):
            continue
        low, high = next(band for i, (_, band) in enumerate(_DEGREES) if match[f"d{i}"])
        if _MORE.search(before):
            low, high = low / _BELOW if high < float("inf") else low, float("inf")
        elif _LESS.search(before):
            low *= _ALMOST
        yield Degree(match[0], match.start(), low, high)


def has_none(text: str, typed: str) -> bool:
    """Return whether a sentence has no word that a rule checks and its source no typed figure."""
    return not any(pattern.search(text) for pattern in (_PATTERN, ALWAYS, FREE, PLACE)) and not TYPED.search(typed)
