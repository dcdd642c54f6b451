"""Mark the asserted words of a sentence: not instructions, conditions, announcements, definitions and names.

Each function yields spans of tokens that assert nothing.
"""

from collections.abc import Iterator

from headroom.comparatives.tokenizer import CLAUSE, Span, Tags

_ENDS = CLAUSE - {"(", ")"}
_LEADS = frozenset(
    [
        "to",
        "for",
        "in",
        "with",
        "if",
        "when",
        "on",
        "unless",
        "before",
        "after",
        "once",
        "where",
        "as",
        "by",
        "while",
        "should",
    ]
)
_SUBJECTS = frozenset(["it", "this", "they", "you", "we", "there", "these", "that"])
_FINITE = frozenset(
    ["is", "are", "was", "were", "may", "can", "could", "might", "will", "would", "should", "does", "do", "has", "have"]
)

_ADJECTIVES = frozenset(["lower", "free", "double", "triple"])
_DETERMINERS = frozenset(
    ["the", "a", "an", "it", "its", "your", "this", "that", "these", "those", "them", "both", "all"]
)

_JOINTS = frozenset(
    ["that", "which", "if", "when", "to", "so", "because", "until", "whose", "where", "before", "after"]
)

_ABLE = ("allow", "enable", "help", "able", "let")
_SEEN = frozenset(["be", "see", "notice", "expect", "get", "observe"])
_SCARE = 3
_MODALS = frozenset(["can", "could", "may", "might", "will", "would"])


def asserted(tags: Tags) -> list[bool]:
    """Return for each token whether it is asserted."""
    live = [True] * len(tags.tokens)
    for part in (_names, _quotations, _conditions, _sought, _unknown, _talk, _instructions):
        for start, end in part(tags):
            live[start:end] = [False] * (min(end, len(live)) - start)
    return live


def _names(tags: Tags) -> Iterator[Span]:
    """Yield names."""
    yield from tags.of("name")


def _quotations(tags: Tags) -> Iterator[Span]:
    """Yield quotations of more than a few words."""
    opened = -1
    for i, token in enumerate(tags.tokens):
        if token.word in ('"', "\u201c", "\u201d"):
            if opened >= 0 and i - opened > _SCARE:
                yield opened, i
            opened = i if opened < 0 else -1


def _conditions(tags: Tags) -> Iterator[Span]:
    """Yield conditions, without the clause that follows from them."""
    last = 0
    for start, end in tags.of("condition"):
        if start >= last:
            last = _clause_end(tags, end)
            yield start, last
    if tags.tokens and tags.tokens[0].word in ("where", "once", "should", "which", "what"):
        yield 0, _clause_end(tags, 1)


def _sought(tags: Tags) -> Iterator[Span]:
    """Yield wishes, needs and purposes."""
    for start, end in tags.of("sought"):
        before = tags.tokens[start - 1].word if start else ""
        after = tags.tokens[end].word if end < len(tags.tokens) else ""
        if before.startswith(_ABLE) or after in _SEEN:  # "allows to avoid", "you should see"
            continue
        mark = _mark(tags, end)
        yield start, next((i for i in range(end + 2, mark) if tags.tokens[i].word in _MODALS), mark)
    for start in _openings(tags):
        if start < len(tags.tokens) and tags.tokens[start].word in ("to", "for"):
            end = _mark(tags, start + 1)
            if end < len(tags.tokens) - 1 or tags.tokens[start].word == "to":
                yield start, end


def _unknown(tags: Tags) -> Iterator[Span]:
    """Yield clauses that call something unknown or dependent."""
    for start, end in tags.of("unknown"):
        yield _clause_start(tags, start), _clause_end(tags, end)


def _talk(tags: Tags) -> Iterator[Span]:
    """Yield sentences about the text or about the meaning of a word, unless they continue with "that"."""
    for start, end in [*tags.of("announcement"), *tags.of("definition")]:
        if not any(token.word == "that" for token in tags.tokens[end : end + 2]) or tags.at("definition", start):
            yield 0, len(tags.tokens)


def _instructions(tags: Tags) -> Iterator[Span]:
    """Yield instructions with their purpose, up to a clause that gives a reason."""
    for begin in _openings(tags):
        verb = begin
        while verb < len(tags.tokens) and (tags.at("lead-in", verb) or tags.tokens[verb].word in ",*"):
            verb += 1
        reports = verb + 1 < len(tags.tokens) and tags.tokens[verb + 1].word == "that"  # "Note that it is slow."
        if (
            tags.at("imperative", verb)
            and not reports
            and not _is_subject(tags, verb)
            and not _is_adjective(tags, verb)
        ):
            first = tags.tokens[0].word
            yield (0 if begin and first in ("to", "for") else verb), _reason(tags, verb + 1)


def _openings(tags: Tags) -> Iterator[int]:
    """Yield the positions where a clause may open: at the start, after a colon, or after the comma of a lead-in."""
    yield 0
    leads = bool(tags.tokens) and tags.tokens[0].word in _LEADS
    for i, token in enumerate(tags.tokens):
        if token.word in (":", ";", "\u2014", "\u2013", "(") or (token.word == "," and leads):
            yield i + 1


def _is_subject(tags: Tags, verb: int) -> bool:
    """Return whether an apparent imperative begins the subject of a verb: "Double quantisation saves …"."""
    near = range(verb + 1, min(verb + 8, len(tags.tokens)))
    stop = next((i for i in near if tags.tokens[i].kind == "mark" or tags.tokens[i].word in _JOINTS), near.stop)
    return any(
        tags.tokens[i].word in _FINITE
        or (tags.tokens[i].word.endswith("s") and (tags.at("change", i) or tags.at("shift", i)))
        for i in range(verb + 1, stop)
    )


def _is_adjective(tags: Tags, verb: int) -> bool:
    """Return whether an apparent imperative is an adjective: "Lower latency", not "Lower the latency"."""
    following = tags.tokens[verb + 1].word if verb + 1 < len(tags.tokens) else ""
    return tags.tokens[verb].word in _ADJECTIVES and following not in _DETERMINERS


def _reason(tags: Tags, start: int) -> int:
    """Return where the first asserted clause after an instruction begins."""
    for i in range(start, len(tags.tokens)):
        before = tags.tokens[i - 1].word
        if tags.tokens[i].word in (":", ";") or tags.tokens[i].word in ("because", "since", "which", "whose"):
            return i
        if before in (",", "\u2014", "\u2013", "(") and tags.at("reason", i):
            return i
    return len(tags.tokens)


def _clause_end(tags: Tags, start: int) -> int:
    """Return where the clause of a token ends: at a mark other than a bracket, or before a pronoun and its verb."""
    for i in range(start, len(tags.tokens)):
        follows = tags.tokens[i + 1].word if i + 1 < len(tags.tokens) else ""
        if (
            tags.tokens[i].word in _ENDS
            or tags.tokens[i].word == "then"
            or (i > start + 2 and tags.tokens[i].word in _SUBJECTS and follows in _FINITE)
        ):
            return i
    return len(tags.tokens)


def _mark(tags: Tags, start: int) -> int:
    return next((i for i in range(start, len(tags.tokens)) if tags.tokens[i].word in CLAUSE), len(tags.tokens))


def _clause_start(tags: Tags, end: int) -> int:
    return max((i + 1 for i in range(end) if tags.tokens[i].word in CLAUSE), default=0)
