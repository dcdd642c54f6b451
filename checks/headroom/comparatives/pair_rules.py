"""Hand-written rules: words that make a comparison alone, near one another, or with figures."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from headroom.comparatives.tokenizer import Tags

ALONE = ("comparative", "trade", "rate")
# Two families make a comparison if the second begins at most this many tokens after the first, in one clause.
NEAR = (
    ("degree", "dimension", 3),
    ("degree", "object", 1),
    ("change", "dimension", 6),
    ("reduce", "object", 4),
    ("dimension", "shift", 4),
    ("bytes", "shift", 1),
    ("change", "percent", 5),
    ("change", "factor", 5),
    ("change", "fraction", 3),
    ("change", "bytes", 4),
    ("change", "seconds", 4),
    ("shift", "percent", 3),
    ("percent", "dimension", 6),
    ("percent", "degree", 3),
    ("percent", "comparative", 4),
    ("fraction", "dimension", 5),
    ("fraction", "degree", 1),
    ("fraction", "comparative", 2),
    ("dimension", "percent", 6),
    ("none", "merit", 2),
    ("same", "merit", 2),
    ("enable", "capacity", 9),
    ("escape", "shortage", 6),
    ("trading", "for", 4),
    ("shift", "strongly", 1),
    ("change", "strongly", 1),
    ("reduce", "bulk", 2),
    ("instead", "numeral", 2),
    ("instead", "number", 2),
    ("quick", "thing", 2),
    ("dimension", "rank", 1),
    ("dimension", "gain", 2),
    ("gain", "dimension", 3),
    ("cause", "burden", 4),
    ("none", "burden", 2),
    ("make", "quick", 5),
    ("let", "bytes", 8),
    ("hasten", "process", 4),
    ("change", "nothing", 1),
    ("strongly", "degree", 0),
    ("gain", "shift", 1),
    ("effect", "dimension", 4),
    ("extra", "percent", 0),
    ("seconds", "degree", 1),
    ("bytes", "degree", 1),
    ("rate", "degree", 1),
    ("percent", "place", 0),
    ("favour", "degree", 0),
    ("favour", "size", 0),
    ("flaw", "dimension", 3),
    ("dimension", "flaw", 1),
    ("grade", "adjective", 0),
    ("spared", "labour", 4),
    ("percent", "gain", 4),
    ("factor", "gain", 3),
    ("gain", "percent", 4),
    ("gain", "factor", 4),
    ("percent", "rank", 3),
)
_FIGURES = ("seconds", "bytes", "rate", "energy", "steps")
_BEFORE_VERDICT = frozenset(
    [
        "a",
        "an",
        "the",
        "very",
        "quite",
        "too",
        "so",
        "rather",
        "often",
        "also",
        "still",
        "almost",
        "not",
        "as",
        "more",
        "most",
    ]
)
_ARTICLES = frozenset(
    ["the", "a", "an", "its", "their", "your", "our", "all", "no", "both", "any", "peak", "gpu", "much", "most"]
)
_CUT = frozenset([",", ".", ";", ":", "(", ")", "|", "of", "in", "for", "with", "on", "and", "to", "or", "at", "that"])
_NO_MERIT = frozenset(
    [
        "easier",
        "earlier",
        "carrier",
        "barrier",
        "tier",
        "modifier",
        "identifier",
        "multiplier",
        "classifier",
        "notifier",
        "friendlier",
        "fancier",
        "trickier",
        "prettier",
    ]
)
_AGAINST = frozenset(["not", "than", "against", "was", "were", "only"])
_STRONG = frozenset(["where", "whereas", "while", "instead", "versus", "vs", "unlike", "for", "what"])
_SHORT = 4
_WORKLOAD = re.compile(r"\d+(?:\.\d+)?[bmk]")
_NO_FACTOR = re.compile(r"[ahblv]\d|rtx|titan|gpu|nvidia|tpu|gaudi|mi\d")


def reasons(tags: Tags, live: list[bool]) -> Iterator[str]:
    """Yield the reasons why these tokens are comparative, given which of them are asserted."""
    tags.spans["factor"] = [span for span in tags.of("factor") if _is_factor(tags, *span)]
    tags.spans["percent"] = [span for span in tags.of("percent") if not _is_part(tags, span[0])]
    figures = [*_two_figures(tags), *_degrees(tags)]
    neutral = tags.of("neutral")
    tags.only(live)
    tags.spans["neutral"] = neutral  # also in a name
    for category in ALONE:
        yield from (f"{category}: {tags.words(span)}" for span in tags.of(category)[:1])
    for span in tags.of("factor"):
        yield f"factor: {tags.words(span)}"
    for first, second, within in NEAR:
        if first in tags.spans and second in tags.spans:
            yield from _near(tags, first, second, within)
    yield from _ranked(tags)
    yield from _judged(tags)
    yield from _open_words(tags)
    yield from figures


def _is_factor(tags: Tags, start: int, end: int) -> bool:
    """Return whether "2x" is a ratio: no product of sizes, "16 × 64", and no number of cards, "8x H100"."""
    apart = re.search(r"\s", tags.tokens[start].word) and not (start and tags.tokens[start - 1].word == "by")
    following = tags.tokens[end].word if end < len(tags.tokens) else ""
    compares = any(tags.at(category, end) for category in ("comparative", "degree")) or following in (
        "as",
        "the",
        "what",
    )
    return bool(
        compares or not (len(tags.tokens) <= _SHORT or apart or _NO_FACTOR.match(following) or following[:1].isdigit())
    )


def _is_part(tags: Tags, start: int) -> bool:
    """Return whether a share is part of the work, "the first 30 %", or all of it."""
    before = tags.tokens[start - 1].word if start else ""
    return before in ("first", "last", "top") or tags.tokens[start].word.startswith("100")


def _degrees(tags: Tags) -> Iterator[str]:
    """Yield the figures that even an instruction asserts: "Use it for up to 2x faster training"."""
    for measure in ("percent", "factor"):
        for category in ("comparative", "degree"):
            yield from _near(tags, measure, category, 1)
        if "dimension" in tags.spans:
            yield from _near(tags, "change", measure, 6)
            yield from _near(tags, measure, "dimension", 1)


def _near(tags: Tags, first: str, second: str, within: int) -> Iterator[str]:
    later = tags.of(second)
    for start, end in tags.of(first) if later else ():
        for begin, stop in later[bisect_left(later, (end, 0)) :]:
            if begin > end + within or any(
                token.word in (";", ":", ".", ",", "(", ")", "|") for token in tags.tokens[end:begin]
            ):
                break
            yield f"{first} … {second}: {tags.words((start, stop))}"


def _ranked(tags: Tags) -> Iterator[str]:
    """Yield a quantity, a form of "be" and a rank: "memory use will be larger"."""
    copulas, ranks = tags.of("copula"), tags.of("rank")
    for start, end in tags.of("dimension"):
        for begin, stop in copulas[bisect_left(copulas, (end, 0)) :]:
            if begin > end + 6:
                break
            for at, last in ranks[bisect_left(ranks, (stop, 0)) :]:
                if at > stop + 2:
                    break
                yield f"ranked: {tags.words((start, last))}"


def _judged(tags: Tags) -> Iterator[str]:
    """Yield a verdict right after "be": "is painfully slow"."""
    copulas = tags.of("copula")
    for start, end in tags.of("verdict"):
        begin = start
        while begin and (tags.tokens[begin - 1].word in _BEFORE_VERDICT or tags.tokens[begin - 1].word.endswith("ly")):
            begin -= 1
        if any(last == begin for _, last in copulas[bisect_left(copulas, (begin - 2, 0)) :]):
            yield f"judged: {tags.words((begin - 1, end))}"


def _open_words(tags: Tags) -> Iterator[str]:
    """Yield unlisted words: a verb in -s before an article and a dimension, and a word in -ier before "than"."""
    words = [token.word for token in tags.tokens]
    for start, end in tags.of("dimension"):
        for i in range(max(0, start - 4), start - 1):
            verb = words[i]
            if (
                verb.endswith("s")
                and not verb.endswith(("ss", "us", "is"))
                and not tags.at("neutral", i)
                and words[i + 1] in _ARTICLES
                and not _CUT & set(words[i:start])
            ):
                yield f"verb: {' '.join(words[i:end])}"
    for i, word in enumerate(words):
        if word.endswith("ier") and len(word) > _SHORT and word not in _NO_MERIT and "than" in words[i + 1 : i + 6]:
            yield f"than: {word}"


def _two_figures(tags: Tags) -> list[str]:
    """Return two contrasted figures of one kind: "101 s with NVLink and 131 s without"."""
    if not any(kind in tags.spans for kind in _FIGURES):
        return []
    words = [token.word for token in tags.tokens]
    contrast = bool(tags.of("contrast")) or ";" in words or "into" in words
    either = ("from" in words and "to" in words) or sum(
        word in ("with", "without", "by", "under", "on") for word in words
    ) > 1
    for kind in _FIGURES:
        figures = [tags.words(span) for span in tags.of(kind)]
        numbers = figures + [tags.words(span) for span in tags.of("number")]
        bare = any(
            words[start - 1] in _AGAINST
            or (_STRONG & set(words) and words[end : end + 1] in ([], ["."], [","], [")"], ["for"]))
            for start, end in tags.of("number")
            if start
        )
        if (len(set(figures)) > 1 and (contrast or either)) or (figures and len(set(numbers)) > 1 and bare):
            return [f"figures: {', '.join(numbers)}"]
        for start, _ in tags.of(kind):
            if (
                start
                and words[start - 1] == "from"
                and " to " in words[start]
                and words[start - 2 : start - 1] not in (["range"], ["ranges"], ["ranging"])
            ):
                return [f"from: {words[start]}"]
    return []


def is_about_the_work(tags: Tags) -> bool:
    """Return whether the subject is the size of the work: "Longer prompts need more memory than shorter ones"."""
    sized = False
    if "workload" not in tags.spans:
        return False
    for i, token in enumerate(tags.tokens[:6]):
        if tags.at("workload", i):
            named = any(token.word == ":" for token in tags.tokens[i + 1 : i + 8])  # "Large models: it is slower."
            return sized and not named
        sized = sized or tags.at("size", i) or bool(_WORKLOAD.fullmatch(token.word))
        if not (sized or token.word in ("a", "an", "the", "as")):
            return False
    return False
