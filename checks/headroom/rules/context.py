"""The input of the rules: a tree with its verdicts, pages, links and sentences."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from headroom.pages.analysis import Prose, prose
from headroom.pages.calculations import Let, lets
from headroom.pages.link_targets import ClaimTarget, FactTarget, parse_target
from headroom.pages.source import Link, Page, load_pages
from headroom.records import Problem, Tree, load
from headroom.verdicts import Board, judge_all


@dataclass(frozen=True, slots=True)
class Context:
    """A tree with everything that the rules need, loaded once."""

    tree: Tree
    board: Board
    pages: tuple[Page, ...]
    problems: tuple[Problem, ...]
    links: tuple[tuple[Page, Link, ClaimTarget | FactTarget | str], ...]
    """Every link to a claim or fact, with its page and target, or an error message instead of the target."""
    claim_links: tuple[tuple[Page, Link, ClaimTarget], ...]
    """The links to claims that exist."""
    let_links: tuple[tuple[Page, Link, ClaimTarget | FactTarget], ...]
    """The claims and facts that the lets of pages name, each as a link without text."""
    prose: Mapping[str, Prose]
    """The sentences, comparisons and notes of each page, by its path."""

    @classmethod
    def of(cls, root: Path) -> "Context":
        """Load and judge the tree at a path, with its pages."""
        tree = load(root)
        board = judge_all(tree)
        pages, problems = load_pages(root)
        sentences = {page.path: prose(page.markdown, compare=page.for_readers) for page in pages}
        links = tuple(_links(pages))
        known = tuple(
            (page, link, target)
            for page, link, target in links
            if isinstance(target, ClaimTarget) and target.claim in tree.claims
        )
        given = tuple(_let_links(pages, tree))
        return cls(tree, board, tuple(pages), (*tree.problems, *problems), links, known, given, sentences)


def _links(pages: Iterable[Page]) -> Iterator[tuple[Page, Link, ClaimTarget | FactTarget | str]]:
    for page in pages:
        for link in page.links:
            if link.href.startswith(("claim:", "fact:")):
                try:
                    yield page, link, parse_target(link.href)
                except ValueError as error:
                    yield page, link, str(error)


def _let_links(pages: Iterable[Page], tree: Tree) -> Iterator[tuple[Page, Link, ClaimTarget | FactTarget]]:
    """Yield the figures that lets name; the rule `calc` reports those that do not exist."""
    for page in pages:
        for let in lets(page.markdown):
            if isinstance(let, Let) and let.text.startswith(("claim:", "fact:")):
                with suppress(ValueError):
                    target = parse_target(let.text)
                    if isinstance(target, FactTarget) or target.claim in tree.claims:
                        yield page, Link(let.line, "", let.text, None, let.start, let.start), target


def at(page: Page, link: Link, rule: str, message: str, remedy: str) -> Problem:
    """Return a problem at the line of a link."""
    return Problem(page.path, link.line, rule, "", message, remedy)
