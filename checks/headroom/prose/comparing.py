"""Comparative sentences, found by their words and a little grammar, in time that grows with the text alone."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from headroom.prose.asserting import asserted
from headroom.prose.sentences import Note, Sentence, sentences
from headroom.prose.tagging import Tags, Token, tokens

NO_CLAIM: Final = {
    "definition": "says what a word means",
    "arithmetic": "follows from figures that stand on the page",
    "proved": "the snippet shown in this section asserts it in its proof",
    "quoted": "somebody else's words, reported or refuted",
    "advice": "says what to try, and asserts no degree",
    "source": "follows from a library's source or documentation, which is named beside it",
    "unproven": "nobody has measured it here yet",
}
"""Why a comparative sentence may stand without a claim: the kinds of ``<!-- no-claim: KIND -->``."""

ALONE = ("comparative", "trade", "rate")
# A pair makes a comparison where the second begins at most so many tokens after the end of the first, in one clause.
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
    ("change", "bits", 2),
    ("change", "seconds", 4),
    ("take", "seconds", 4),
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
_SHORT = 4
_ONE_WORD = 2
_WINDOW = 400
_WORKLOAD = re.compile(r"\d+(?:\.\d+)?[bmk]")
_NO_FACTOR = re.compile(r"[ahblv]\d|rtx|titan|gpu|nvidia|tpu|gaudi|mi\d")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A sentence by which something is better or worse in speed, memory, size, traffic, energy, cost or quality."""

    line: int
    text: str
    start: int
    end: int
    claims: tuple[str, ...]
    """The ``claim:`` links that stand in it."""
    remark: Note | None
    """The note ``<!-- no-claim: KIND -->`` that follows it."""

    @property
    def note(self) -> str | None:
        """The kind of its note."""
        return self.remark.kind if self.remark else None

    @property
    def linked(self) -> bool:
        """Whether it is linked to a claim."""
        return bool(self.claims)


def comparisons(markdown_text: str) -> list[Comparison]:
    """The comparative sentences of a Markdown text, in order."""
    return [of_sentence(each) for each in sentences(markdown_text) if is_comparison(each, markdown_text)]


def is_comparison(sentence: Sentence, source: str) -> bool:
    """Whether a sentence of this Markdown text compares."""
    return bool(reason(sentence, source))


def of_sentence(sentence: Sentence) -> Comparison:
    """A sentence that compares, with what it is linked to."""
    claims = tuple(href for href in sentence.hrefs if href.startswith("claim:"))
    return Comparison(sentence.line, sentence.text, sentence.start, sentence.end, claims, sentence.remark)


def reason(sentence: Sentence, source: str) -> str:
    """Which of its words make a sentence comparative; none if it is not."""
    if sentence.shape.rstrip("\"')]*\u201d\u2019").endswith("?") or _is_title_of_link(sentence, source):
        return ""
    found = list(tokens(sentence.shape))
    if len(found) < _ONE_WORD or (
        sentence.kind in ("heading", "title") and found[0].word.endswith("ing") and _is_topic(found)
    ):
        return ""
    windows = (found[i : i + _WINDOW] for i in range(0, len(found), _WINDOW))
    return next((why for window in windows for why in _reasons(window)), "")


def _is_topic(found: list[Token]) -> bool:
    """Whether a heading says what its section is about, "Reducing memory", and no more."""
    tags = Tags(found)
    return (tags.at("change", 0) or tags.at("topic", 0)) and not (tags.of("percent") or tags.of("factor"))


def _is_title_of_link(sentence: Sentence, source: str) -> bool:
    """Whether it is nothing but a link to somewhere else, which asserts nothing here."""
    whole = source[sentence.start - 1 : sentence.start] == "[" and source[sentence.end : sentence.end + 2] == "]("
    return whole and not any(href.startswith("claim:") for href in sentence.hrefs)


def _reasons(found: list[Token]) -> Iterator[str]:
    tags = Tags(found)
    if _is_about_the_work(tags):
        return
    figures = [*_two_figures(tags), *_degrees(tags)]
    tags.only(asserted(tags))
    for category in ALONE:
        yield from (f"{category}: {tags.words(span)}" for span in tags.of(category)[:1])
    for span in tags.of("percent"):
        of = span[1] < len(found) and found[span[1]].word == "of" and found[span[0] - 1].word != "within"  # a part
        if len(found) > _SHORT and not of and not found[span[0]].word.startswith("100"):
            yield f"percent: {tags.words(span)}"
    for start, end in tags.of("factor"):
        if _is_factor(tags, start, end):
            yield f"factor: {tags.words((start, end))}"
    for first, second, within in NEAR:
        yield from _near(tags, first, second, within)
    yield from _ranked(tags)
    yield from _judged(tags)
    yield from figures


def _is_factor(tags: Tags, start: int, end: int) -> bool:
    """Whether "2x" is a ratio: not one of sizes, "16 × 64", nor a number of cards, "8x H100"."""
    apart = re.search(r"\s", tags.tokens[start].word)
    following = tags.tokens[end].word if end < len(tags.tokens) else ""
    compares = any(tags.at(category, end) for category in ("comparative", "degree")) or following in (
        "as",
        "the",
        "what",
    )
    return bool(
        compares or not (len(tags.tokens) <= _SHORT or apart or _NO_FACTOR.match(following) or following[:1].isdigit())
    )


def _degrees(tags: Tags) -> Iterator[str]:
    """What even an instruction asserts by its figure: "Use it for up to 2x faster training"."""
    for measure in ("percent", "factor"):
        for category in ("comparative", "degree"):
            yield from _near(tags, measure, category, 1)


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
    """What is compared, "be", and how much: "memory use will be larger"."""
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
    """A verdict right after "be": "is painfully slow"."""
    copulas = tags.of("copula")
    for start, end in tags.of("verdict"):
        begin = start
        while begin and (tags.tokens[begin - 1].word in _BEFORE_VERDICT or tags.tokens[begin - 1].word.endswith("ly")):
            begin -= 1
        if any(last == begin for _, last in copulas[bisect_left(copulas, (begin - 2, 0)) :]):
            yield f"judged: {tags.words((begin - 1, end))}"


def _two_figures(tags: Tags) -> list[str]:
    """Two figures of a kind that words set against one another: "101 s with NVLink and 131 s without"."""
    words = [token.word for token in tags.tokens]
    contrast = bool(tags.of("contrast")) or ";" in words or "into" in words
    either = ("from" in words and "to" in words) or sum(
        word in ("with", "without", "by", "under", "on") for word in words
    ) > 1
    for kind in _FIGURES:
        figures = [tags.words(span) for span in tags.of(kind)]
        numbers = figures + [tags.words(span) for span in tags.of("number")]
        if (len(set(figures)) > 1 and (contrast or either)) or (figures and len(set(numbers)) > 1 and contrast):
            return [f"figures: {', '.join(numbers)}"]
    return []


def _is_about_the_work(tags: Tags) -> bool:
    """Whether the subject is the work and its size, as in "Longer prompts need more memory than shorter ones"."""
    sized = False
    for i, token in enumerate(tags.tokens[:6]):
        if tags.at("workload", i):
            return sized
        sized = sized or tags.at("size", i) or bool(_WORKLOAD.fullmatch(token.word))
        if not (sized or token.word in ("a", "an", "the", "as", "for", "with")):
            return False
    return False
