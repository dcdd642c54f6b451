"""What the rules look at: a tree, judged, with its pages and their links."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headroom.prose.pages import Link, Page, load_pages
from headroom.prose.targets import ClaimTarget, parse_target
from headroom.records import Problem, Tree, load
from headroom.verdicts import Board, board


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that can be known of a tree without running it."""

    tree: Tree
    board: Board
    pages: tuple[Page, ...]
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, root: Path) -> "Context":
        """Read and judge a tree."""
        tree = load(root)
        pages, problems = load_pages(root)
        return cls(tree, board(tree), tuple(pages), (*tree.problems, *problems))


def links(context: Context) -> Iterator[tuple[Page, Link]]:
    """Every link to a claim or a fact, with its page."""
    for page in context.pages:
        for link in page.links:
            if link.href.startswith(("claim:", "fact:")):
                yield page, link


def claim_links(context: Context) -> Iterator[tuple[Page, Link, ClaimTarget]]:
    """The links to claims that there are."""
    for page, link in links(context):
        try:
            target = parse_target(link.href)
        except ValueError:
            continue
        if isinstance(target, ClaimTarget) and target.claim in context.tree.claims:
            yield page, link, target


def at(page: Page, link: Link, rule: str, message: str, remedy: str) -> Problem:
    """A problem at the line of a link."""
    return Problem(page.path, link.line, rule, "", message, remedy)
