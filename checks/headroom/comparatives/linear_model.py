"""Score a sentence with logistic regression: its words, their families and the rules that match.

``tests/comparisons/train.py`` trains ``weights.txt``, a weight per feature and a bias, on labelled sentences.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import combinations, pairwise
from math import fsum
from pathlib import Path
from typing import Final

from headroom.comparatives.assertion import asserted
from headroom.comparatives.pair_rules import is_about_the_work, reasons
from headroom.comparatives.tokenizer import CLAUSE, Tags, Token

WEIGHTS: Final = Path(__file__).with_name("weights.txt")
BIAS: Final = "the bias"
RULE: Final = "the rule"
PAIR: Final = " & "
ORDER: Final = " > "
Partners = dict[str, frozenset[str]]
"""For each family, the families with which it has a weight: as a pair, or right after it."""
_ENDINGS = (
    ("ies", "y"),
    ("ied", "y"),
    ("ing", ""),
    ("est", ""),
    ("ed", ""),
    ("er", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
    ("e", ""),
)
_STEM = 3
_AFFIXED = 5
_SOON = 3
_FIGURES = frozenset(["percent", "factor", "bytes", "rate", "seconds", "energy", "steps", "number"])


def score(found: list[Token], kind: str) -> tuple[float, str]:
    """Return the score, above 0 for a comparison, and the words that a rule matched, if one did."""
    weights = _weights()
    seen, why = features(found, kind, _partners(PAIR), _partners(ORDER))
    return fsum([weights[BIAS], *(weights[feature] for feature in seen if feature in weights)]), why


def features(
    found: list[Token], kind: str, partners: Partners | None = None, followers: Partners | None = None
) -> tuple[set[str], str]:
    """Return the features of these tokens, none for a sentence about the work, and the words that a rule matched.

    With partners and followers, only pairs of families that have a weight are features.
    """
    tags = Tags(found)
    if is_about_the_work(tags) or tags.at("announcement", 0):
        return set(), ""
    live = asserted(tags)
    stems = ["^", *map(_shape, found), "$"]
    seen = {
        f"in {kind}",
        *_words(stems),
        *_families(tags, live),
        *_affixes(found),
        *_pairs(tags, partners),
        *_ordered(tags, followers),
        *_neighbours(tags, stems),
        *_figures(found),
    }
    why = next(reasons(tags, live), "")
    return (seen | {RULE, f"{RULE} {why.partition(':')[0]}"} if why else seen), why


def _words(stems: list[str]) -> Iterator[str]:
    """Yield the words, any two in a row, and any two around a third."""
    yield from stems
    yield from map(" ".join, pairwise(stems))
    yield from map(" _ ".join, zip(stems, stems[2:], strict=False))


def _affixes(found: list[Token]) -> Iterator[str]:
    """Yield the beginnings and endings of longer words, so that unknown words count too."""
    for token in found:
        if token.kind == "word" and len(token.word) >= _AFFIXED:
            yield f"{token.word[:4]}-"
            yield f"-{token.word[-3:]}"


def _families(tags: Tags, live: list[bool]) -> Iterator[str]:
    """Yield the families of the words."""
    for family, spans in tags.spans.items():
        asserted_spans = [all(live[start:end]) for start, end in spans]
        if any(asserted_spans):
            yield f"family {family}"
        if not all(asserted_spans):
            yield f"not asserted {family}"
        if spans[0][0] == 0:
            yield f"first {family}"
        if len(spans) > 1:
            yield f"twice {family}"


def _pairs(tags: Tags, partners: Partners | None) -> Iterator[str]:
    """Yield any two families of one sentence."""
    if partners is None:
        yield from map(PAIR.join, combinations(sorted(tags.spans), 2))
    else:
        for family in tags.spans.keys() & partners.keys():
            yield from (f"{family}{PAIR}{other}" for other in partners[family] & tags.spans.keys())


def _ordered(tags: Tags, followers: Partners | None) -> Iterator[str]:
    """Yield any two families of which one begins soon after the other, without a mark between them."""
    beginning = defaultdict(set)
    for family, spans in tags.spans.items():
        for start, _ in spans:
            beginning[start].add(family)
    for family, spans in tags.spans.items():
        wanted = None if followers is None else followers.get(family, frozenset())
        for _, end in spans if wanted is None or wanted else ():
            for i in range(end, min(end + _SOON + 1, len(tags.tokens))):
                near = beginning.get(i, set())
                yield from (f"{family}{ORDER}{other}" for other in (near if wanted is None else near & wanted))
                if tags.tokens[i].word in CLAUSE:
                    break


def _neighbours(tags: Tags, stems: list[str]) -> Iterator[str]:
    """Yield each family with the word before it, and with the word after it."""
    for family, spans in tags.spans.items():
        for start, end in spans:
            yield f"before {stems[start]} {family}"
            yield f"behind {family} {stems[end + 1]}"


def _figures(tokens: list[Token]) -> Iterator[str]:
    """Yield the number of figures, and the kinds that occur twice."""
    kinds = [token.kind for token in tokens if token.kind in _FIGURES]
    measured = [kind for kind in kinds if kind != "number"]
    yield f"measured {min(len(measured), 3)}"
    yield f"numbers {min(len(kinds), 4)}"
    yield from (f"twice measured {kind}" for kind in set(measured) if measured.count(kind) > 1)


def _shape(token: Token) -> str:
    """Return the stem of a word, or the kind of any other token."""
    return _stem(token.word) if token.kind in ("word", "mark") else f"<{token.kind}>"


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if len(word) > len(ending) + _STEM and word.endswith(ending):
            word = word.removesuffix(ending) + instead
            break
    return word[:-1] if len(word) > _STEM + 1 and word[-1] == word[-2] and word[-1] not in "sl" else word


@cache
def _weights() -> dict[str, float]:
    rows = (line.rsplit(" ", 1) for line in WEIGHTS.read_text("utf-8").splitlines())
    return {feature: float(weight) for feature, weight in rows}


@cache
def _partners(together: str) -> Partners:
    found: dict[str, set[str]] = {}
    for first, separator, second in (feature.partition(together) for feature in _weights()):
        if separator:
            found.setdefault(first, set()).add(second)
    return {first: frozenset(others) for first, others in found.items()}
