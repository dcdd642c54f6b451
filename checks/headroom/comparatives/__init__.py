"""Find comparative sentences by their words and some grammar rules, in linear time."""

from dataclasses import dataclass
from typing import Final

from headroom.comparatives import linear_model
from headroom.comparatives.tokenizer import Tags, Token, tokens
from headroom.pages.sentences import Note, Sentence, sentences

NO_CLAIM: Final = {
    "definition": "says what a word means",
    "proved": "the snippet shown in this section asserts it in its proof",
    "quoted": "somebody else's words, reported or refuted",
    "advice": "says what to try, and asserts no degree",
    "source": "follows from a library's source or documentation, which is named next to it",
    "unproven": "nobody has measured it here yet",
    "setting": "a value that somebody chooses: a timeout, a fraction, a size that the page assumes",
    "misread": "compares no methods, and the finder takes it for a comparison",
}
"""The reasons for a comparative sentence without a claim: the kinds of ``<!-- no-claim: KIND -->``."""

SHOWN: Final = "unproven"
"""The kind of note that readers see, as "not measured": it may follow any sentence."""
GROUNDS: Final = ("claim:", "calc:", "estimate:")
"""The schemes of links that support a comparative sentence: claims, computed and predicted figures."""
_ONE_WORD = 2
_WINDOW = 400


@dataclass(frozen=True, slots=True)
class ComparativeSentence:
    """A sentence that calls something better or worse in speed, memory, size, traffic, energy, cost or quality."""

    line: int
    text: str
    start: int
    end: int
    grounds: tuple[str, ...]
    """The addresses of its links to claims, computed figures and predicted figures."""
    remark: Note | None
    """The note ``<!-- no-claim: KIND -->`` that follows it."""

    @property
    def note(self) -> str | None:
        """The kind of its note."""
        return self.remark.kind if self.remark else None

    @property
    def linked(self) -> bool:
        """Whether a link in it leads to a claim, or to a computed or predicted figure."""
        return bool(self.grounds)


def comparisons(markdown_text: str) -> list[ComparativeSentence]:
    """Return the comparative sentences of a Markdown text, in order."""
    return [of_sentence(each) for each in sentences(markdown_text) if is_comparison(each, markdown_text)]


def is_comparison(sentence: Sentence, source: str) -> bool:
    """Return whether a sentence of this Markdown text compares."""
    return bool(reason(sentence, source))


def of_sentence(sentence: Sentence) -> ComparativeSentence:
    """Return a sentence as a comparative one, with its links to claims and figures."""
    grounds = tuple(href for href in sentence.hrefs if href.startswith(GROUNDS))
    return ComparativeSentence(sentence.line, sentence.text, sentence.start, sentence.end, grounds, sentence.remark)


def reason(sentence: Sentence, source: str) -> str:
    """Return the words that make a sentence comparative; empty if it is not."""
    scored = (linear_model.score(window, sentence.kind) for window in windows(sentence, source))
    return next((why or "its words" for score, why in scored if score > 0), "")


def windows(sentence: Sentence, source: str) -> list[list[Token]]:
    """Return the tokens of a sentence in parts of bounded length; none for questions and topics."""
    if sentence.shape.rstrip("\"')]*\u201d\u2019").endswith("?") or _is_title_of_link(sentence, source):
        return []
    found = list(tokens(sentence.shape))
    if (
        sentence.kind == "header"
        or len(found) < _ONE_WORD
        or (sentence.kind in ("heading", "title") and found[0].word.endswith("ing") and _is_topic(found))
        or (sentence.kind in ("heading", "title", "cell") and _is_symptom(found))
    ):
        return []
    return [found[i : i + _WINDOW] for i in range(0, len(found), _WINDOW)]


def _is_topic(found: list[Token]) -> bool:
    """Return whether a heading only names a topic: "Reducing memory"."""
    tags = Tags(found)
    return (tags.at("change", 0) or tags.at("topic", 0)) and not (tags.of("percent") or tags.of("factor"))


def _is_symptom(found: list[Token]) -> bool:
    """Return whether a short text names a symptom: "Training is slow"."""
    words = [token.word for token in found]
    slow = any(words[i] in ("is", "are") and "slow" in words[i + 1 : i + 3] for i in range(len(words)))
    return slow and (Tags(found).at("process", 0) or words[0] in ("it", "the", "my", "your"))


def _is_title_of_link(sentence: Sentence, source: str) -> bool:
    """Return whether a sentence is only a link to another page, which asserts nothing here."""
    whole = source[sentence.start - 1 : sentence.start] == "[" and source[sentence.end : sentence.end + 2] == "]("
    return whole and not any(href.startswith(GROUNDS) for href in sentence.hrefs)
