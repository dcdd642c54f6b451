"""Passages: the sentences of pages and claims, with what they say of which claim."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headroom.prose.markup import CALC_ADDRESS
from headroom.prose.pages import Link, Page
from headroom.prose.sentences import Sentence
from headroom.prose.targets import ClaimTarget
from headroom.records.claims import Claim
from headroom.rules.context import Context
from headroom.rules.links import known_classes

_NEAR = 60  # characters; with all of a sentence, many links in it would take the square of its room
_DESTINATION = re.compile(rf"\]\((?:{CALC_ADDRESS}|[^()\s]*)(?:\s+\"[^\"]*\")?\)")


@dataclass(frozen=True, slots=True)
class Said:
    """One claim as a sentence links it."""

    claim: Claim
    target: ClaimTarget
    text: str = ""
    """The words of the link."""
    title: str | None = None
    before: str = ""
    """The last words before the link in its sentence."""
    hardware: tuple[str, ...] = ()
    """The classes that the page is about."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that links claims, or that is a claim's own."""

    path: str
    line: int | None
    """None where it is a claim's: its record has lines."""
    text: str
    """Its words."""
    typed: str
    """Its source without the figures that are links."""
    said: tuple[Said, ...]


def passages(context: Context) -> Iterator[Passage]:
    """Every sentence of a page that links claims."""
    linked: dict[str, list[tuple[Link, ClaimTarget]]] = defaultdict(list)
    for page, link, target in context.claim_links:
        if link.text:
            linked[page.path].append((link, target))
    for page in context.pages:
        if page.path in linked:
            yield from _of_page(context, page, linked[page.path])


def statements(context: Context, wanted: Callable[[str], bool]) -> Iterator[Passage]:
    """The statements of measured claims that are wanted; each speaks of nothing but itself."""
    for claim in context.tree.measured():
        if wanted(claim.statement):
            itself = Said(claim, ClaimTarget(claim.id), hardware=claim.scope.hardware)
            yield Passage(context.tree.claim_paths[claim.id], None, claim.statement, claim.statement, (itself,))


def _of_page(context: Context, page: Page, linked: list[tuple[Link, ClaimTarget]]) -> Iterator[Passage]:
    found = context.prose[page.path].sentences
    starts = [sentence.start for sentence in found]
    links: dict[int, list[tuple[Link, ClaimTarget]]] = defaultdict(list)
    for link, target in linked:
        links[bisect_right(starts, link.start) - 1].append((link, target))
    figures = [link for link in page.links if link.href.startswith(("fact:", "calc:", "<calc:")) or "#" in link.href]
    places = [link.start for link in figures]
    hardware = tuple(known_classes(context, page))
    for number, inside in sorted(links.items()):
        sentence = found[max(number, 0)]
        said = tuple(
            Said(
                claim=context.tree.claims[target.claim],
                target=target,
                text=link.text,
                title=link.title,
                before=page.markdown[max(sentence.start, link.start - _NEAR) : link.start].rstrip("[*_ "),
                hardware=hardware,
            )
            for link, target in inside
        )
        inner = figures[bisect_left(places, sentence.start) : bisect_left(places, sentence.end)]
        yield Passage(page.path, sentence.line, sentence.text, _typed(page, sentence, inner), said)


def _typed(page: Page, sentence: Sentence, figures: list[Link]) -> str:
    """A sentence's source, without the text of figures and without destinations."""
    parts, done = [], sentence.start
    for link in figures:
        if link.end <= sentence.end:
            parts.append(page.markdown[done : link.start])
            done = link.end
    return _DESTINATION.sub("]", "".join([*parts, page.markdown[done : sentence.end]]))
