"""Find the sentences of pages and claims that refer to claims, with the claims of each sentence."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headroom.pages.link_targets import ClaimTarget
from headroom.pages.markdown_syntax import CALC_ADDRESS
from headroom.pages.sentences import Sentence
from headroom.pages.source import Link, Page
from headroom.records.claims import Claim, MeasuredClaim
from headroom.records.reported_claims import ReportedClaim
from headroom.rules.context import Context
from headroom.rules.links import known_classes

_NEAR = 60  # characters; keeping the whole sentence per link would be quadratic in the number of links
_DESTINATION = re.compile(rf"\]\((?:{CALC_ADDRESS}|[^()\s]*)(?:\s+\"[^\"]*\")?\)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as linked by a sentence."""

    claim: Claim
    target: ClaimTarget
    text: str = ""
    """The text of the link."""
    title: str | None = None
    before: str = ""
    """The last words before the link in its sentence."""
    hardware: tuple[str, ...] = ()
    """The hardware classes of the page."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that links claims, or the statement of a claim."""

    path: str
    line: int | None
    """None for the statement of a claim, whose record knows its line."""
    text: str
    """The sentence without markup."""
    typed: str
    """The source of the sentence without linked figures."""
    claims: tuple[Statement, ...]
    """The claims that the sentence links."""


def passages(context: Context) -> Iterator[Passage]:
    """Yield every sentence of a page that links claims."""
    linked: dict[str, list[tuple[Link, ClaimTarget]]] = defaultdict(list)
    for page, link, target in context.claim_links:
        if link.text:
            linked[page.path].append((link, target))
    for page in context.pages:
        if page.path in linked:
            yield from _of_page(context, page, linked[page.path])


def statements(context: Context, wanted: Callable[[str], bool]) -> Iterator[Passage]:
    """Yield the wanted statements of measured and reported claims, each as a passage about the claim itself."""
    for claim in context.tree.claims.values():
        if isinstance(claim, MeasuredClaim | ReportedClaim) and wanted(claim.statement):
            hardware = claim.scope.hardware if isinstance(claim, MeasuredClaim) else ()
            itself = Statement(claim, ClaimTarget(claim.id), hardware=hardware)
            yield Passage(context.tree.claim_paths[claim.id], None, claim.statement, claim.statement, (itself,))


def _of_page(context: Context, page: Page, linked: list[tuple[Link, ClaimTarget]]) -> Iterator[Passage]:
    found = context.prose[page.path].sentences
    starts = [sentence.start for sentence in found]
    links: dict[int, list[tuple[Link, ClaimTarget]]] = defaultdict(list)
    for link, target in linked:
        links[bisect_right(starts, link.start) - 1].append((link, target))
    figures = [
        link
        for link in page.links
        if link.href.startswith(("fact:", "calc:", "<calc:", "estimate:")) or "#" in link.href
    ]
    places = [link.start for link in figures]
    hardware = tuple(known_classes(context, page))
    for number, inside in sorted(links.items()):
        sentence = found[max(number, 0)]
        claims = tuple(
            Statement(
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
        yield Passage(page.path, sentence.line, sentence.text, _typed(page, sentence, inner), claims)


def _typed(page: Page, sentence: Sentence, figures: list[Link]) -> str:
    """Return the source of a sentence without linked figures and link destinations."""
    parts, done = [], sentence.start
    for link in figures:
        if link.end <= sentence.end:
            parts.append(page.markdown[done : link.start])
            done = link.end
    return _DESTINATION.sub("]", "".join([*parts, page.markdown[done : sentence.end]]))
