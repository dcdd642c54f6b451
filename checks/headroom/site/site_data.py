"""The data that all parts of the site share: the judged tree, the current page, and addresses of files."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headroom.pages.old_pages import GLOSSARY, OldPage, old_pages
from headroom.pages.source import Page, load_pages
from headroom.records import Claim, Tree, load
from headroom.verdicts import Board, judge_all

INDEX = "claims/index.md"
"""The page that lists every claim."""
UNSEARCHED = {"data-search-exclude": "true"}
"""The attribute of elements that the search leaves out because they repeat on many pages."""


def read_and_judge(root: Path | str) -> tuple[Tree, Board]:
    """Return the records of a tree and the verdicts on its claims."""
    tree = load(root)
    return tree, judge_all(tree)


@dataclass(frozen=True, slots=True)
class SiteData:
    """A tree, its verdicts and its pages, read once per build."""

    tree: Tree
    board: Board
    repository: str = ""
    """The address of the source repository, for links to files and issues; empty if none."""
    pages: tuple[Page, ...] = ()
    """The pages that people write below docs/."""
    old_pages: Mapping[str, OldPage] = field(default_factory=dict)
    """Pages that have moved, by old address."""
    address: str = ""
    """The site's public address with a slash at its end; empty if unknown."""

    @property
    def guides(self) -> tuple[Page, ...]:
        """The pages that the choices on the start page lead to, by their front matter."""
        return tuple(page for page in self.pages if page.answers)

    @classmethod
    def load(
        cls, root: Path | str, repository: str = "", address: str = "", judged: tuple[Tree, Board] | None = None
    ) -> "SiteData":
        """Read and judge a tree, unless `judged` is given."""
        tree, board = judged or read_and_judge(root)
        pages = tuple(load_pages(Path(root))[0])
        return cls(tree, board, repository, pages, old_pages(tree, pages), address)

    def title(self, path: str) -> str:
        """Return the title of a page below docs/, or its path if it is generated."""
        named = (page.meta.get("title") for page in self.pages if page.path == f"docs/{path}")
        return next(filter(None, named), "Glossary" if path == GLOSSARY else path)

    def class_name(self, hardware_class: str) -> str:
        """Return a hardware class's name for sentences."""
        known = self.tree.classes.get(hardware_class)
        return known.name if known else hardware_class

    def short_name(self, hardware_class: str) -> str:
        """Return a hardware class's short name for badges and cells, or its id."""
        known = self.tree.classes.get(hardware_class)
        return known.short if known and known.short else hardware_class

    def on_gpu(self, hardware_class: str) -> bool:
        """Tell whether a hardware class is a GPU."""
        known = self.tree.classes.get(hardware_class)
        return known is not None and known.device == "cuda"

    def classes_of(self, claim: Claim) -> tuple[str, ...]:
        """Return the classes that a claim names or was measured on; none for a cited claim."""
        return tuple(self.board.standings[claim.id])


@dataclass(frozen=True, slots=True)
class PageContext:
    """The page that is being rendered: its source below docs/ and its hardware classes."""

    path: str = "index.md"
    hardware: tuple[str, ...] = ()
    fixed: bool = False
    """Whether the hardware switch is left out because the page's order depends on its hardware."""

    @classmethod
    def of(cls, path: str, meta: Mapping[str, Any]) -> "PageContext":
        """Return a page's context; `hardware` in the front matter is one class or a list."""
        hardware = meta.get("hardware") or ()
        fixed = meta.get("hardware_fixed") is True
        return cls(path, (hardware,) if isinstance(hardware, str) else tuple(hardware), fixed)

    def href(self, target: str) -> str:
        """Return the relative link from this page to another source file."""
        # With absolute paths relpath does not ask for the working directory, which is slow.
        return posixpath.relpath(f"/{target}", f"/{posixpath.dirname(self.path)}")


def claim_page(claim_id: str) -> str:
    """Return a claim's page below docs/; its record has the same place below checks/registry/."""
    return f"claims/{claim_id.replace('.', '/', 1).replace('.', '-')}.md"


def html_page(path: str) -> str:
    """Return the site's path of a page's HTML from its source path."""
    return path.rpartition(".")[0] + ".html"


def markdown_page(path: str) -> str:
    """Return the site's path of a page's Markdown version, next to its HTML."""
    return path.rpartition(".")[0] + ".md"


def claim_file(claim_id: str, ending: str) -> str:
    """Return the path of a file next to a claim's page, for example with the ending `.json`."""
    return claim_page(claim_id).removesuffix(".md") + ending


def evidence_file(session_path: str) -> str:
    """Return the site's path of a session's raw data."""
    return session_path.removeprefix("checks/")
