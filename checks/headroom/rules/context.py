"""What the rules look at: a tree, judged, with its pages and their links."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headroom.cache import Cache
from headroom.prose.calculations import Let, lets
from headroom.prose.pages import Link, Page, load_pages
from headroom.prose.reading import Prose, prose
from headroom.prose.targets import ClaimTarget, FactTarget, parse_target
from headroom.records import Problem, Tree
from headroom.verdicts import Board, read


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that can be known of a tree without running it."""

    tree: Tree
    board: Board
    pages: tuple[Page, ...]
    problems: tuple[Problem, ...]
    links: tuple[tuple[Page, Link, ClaimTarget | FactTarget | str], ...]
    """Every link to a claim or a fact, with its page and where it leads, or else what is wrong with it."""
    claim_links: tuple[tuple[Page, Link, ClaimTarget], ...]
    """The links to claims that there are."""
    let_links: tuple[tuple[Page, Link, ClaimTarget | FactTarget], ...]
    """The claims and facts that lets of pages name, each as a link without text."""
    prose: Mapping[str, Prose]
    """What each page says, by its path."""
    cache: Cache
    """What was computed before."""

    @classmethod
    def of(cls, root: Path, cache: Cache | None = None) -> "Context":
        """Read and judge a tree, but for what a cache holds."""
        cache = cache or Cache()
        tree, board = read(root, cache)
        pages, problems = load_pages(root)
        said = {page.path: prose(page.markdown, cache) for page in pages}
        links = tuple(_links(pages))
        known = tuple(
            (page, link, target)
            for page, link, target in links
            if isinstance(target, ClaimTarget) and target.claim in tree.claims
        )
        given = tuple(_let_links(pages, tree))
        return cls(tree, board, tuple(pages), (*tree.problems, *problems), links, known, given, said, cache)


def _links(pages: Iterable[Page]) -> Iterator[tuple[Page, Link, ClaimTarget | FactTarget | str]]:
    for page in pages:
        for link in page.links:
            if link.href.startswith(("claim:", "fact:")):
                try:
                    yield page, link, parse_target(link.href)
                except ValueError as error:
                    yield page, link, str(error)


def _let_links(pages: Iterable[Page], tree: Tree) -> Iterator[tuple[Page, Link, ClaimTarget | FactTarget]]:
    """The figures that lets name. The rule `calc` reports those that do not exist."""
    for page in pages:
        for let in lets(page.markdown):
            if isinstance(let, Let) and let.text.startswith(("claim:", "fact:")):
                with suppress(ValueError):
                    target = parse_target(let.text)
                    if isinstance(target, FactTarget) or target.claim in tree.claims:
                        yield page, Link(let.line, "", let.text, None, let.start, let.start), target


def at(page: Page, link: Link, rule: str, message: str, remedy: str) -> Problem:
    """A problem at the line of a link."""
    return Problem(page.path, link.line, rule, "", message, remedy)
