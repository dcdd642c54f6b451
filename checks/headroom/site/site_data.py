"""What every part of the site reads: the judged tree, the page in hand, and where each thing lies on the site."""

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
"""The attribute of an element that the search leaves out: it stands on many pages, and nobody looks for it."""


def read_and_judge(root: Path | str) -> tuple[Tree, Board]:
    """Return the records of a tree and the verdicts on its claims."""
    tree = load(root)
    return tree, judge_all(tree)


@dataclass(frozen=True, slots=True)
class SiteData:
    """A tree and what it proves, read once a build."""

    tree: Tree
    board: Board
    repository: str = ""
    """Where its source is kept and issues are opened, or nothing."""
    pages: tuple[Page, ...] = ()
    """What people have written below docs/."""
    old_pages: Mapping[str, OldPage] = field(default_factory=dict)
    """What stood at other addresses, and where it stands now."""
    address: str = ""
    """Where the site is published, with a slash at its end, or nothing where that is not known."""

    @property
    def guides(self) -> tuple[Page, ...]:
        """The pages that choices of the start page lead to, by their front matter."""
        return tuple(page for page in self.pages if page.answers)

    @classmethod
    def load(
        cls, root: Path | str, repository: str = "", address: str = "", judged: tuple[Tree, Board] | None = None
    ) -> "SiteData":
        """Read and judge a tree, unless it is given with its board."""
        tree, board = judged or read_and_judge(root)
        pages = tuple(load_pages(Path(root))[0])
        return cls(tree, board, repository, pages, old_pages(tree, pages), address)

    def title(self, path: str) -> str:
        """The title of a page below docs/, or its path where it is made from records."""
        named = (page.meta.get("title") for page in self.pages if page.path == f"docs/{path}")
        return next(filter(None, named), "Glossary" if path == GLOSSARY else path)

    def class_name(self, hardware_class: str) -> str:
        """A hardware class as a sentence names it."""
        known = self.tree.classes.get(hardware_class)
        return known.name if known else hardware_class

    def short_name(self, hardware_class: str) -> str:
        """A hardware class as a badge or a cell names it; its id where it has no short name."""
        known = self.tree.classes.get(hardware_class)
        return known.short if known and known.short else hardware_class

    def on_gpu(self, hardware_class: str) -> bool:
        """Whether a class is one of GPUs."""
        known = self.tree.classes.get(hardware_class)
        return known is not None and known.device == "cuda"

    def classes_of(self, claim: Claim) -> tuple[str, ...]:
        """The classes that a claim is meant for or was measured on; none for a cited one."""
        return tuple(self.board.standings[claim.id])


@dataclass(frozen=True, slots=True)
class PageContext:
    """The page that is being rendered: its source below docs/, and the hardware that it is about."""

    path: str = "index.md"
    hardware: tuple[str, ...] = ()
    fixed: bool = False
    """Whether the page makes no sense on other hardware: its order, say, is that of its own."""

    @classmethod
    def of(cls, path: str, meta: Mapping[str, Any]) -> "PageContext":
        """A page from its path and its front matter, whose `hardware` names one class or a list of them."""
        hardware = meta.get("hardware") or ()
        fixed = meta.get("hardware_fixed") is True
        return cls(path, (hardware,) if isinstance(hardware, str) else tuple(hardware), fixed)

    def href(self, target: str) -> str:
        """The relative link from this page to another source file, which the generator turns into an address."""
        # From the top of the site: of other paths Python would ask where the process runs, each time.
        return posixpath.relpath(f"/{target}", f"/{posixpath.dirname(self.path)}")


def claim_page(claim_id: str) -> str:
    """The page of a claim, below docs/: the same place that its record has below checks/registry/."""
    return f"claims/{claim_id.replace('.', '/', 1).replace('.', '-')}.md"


def html_page(path: str) -> str:
    """Where the site shows a page, by its source below docs/."""
    return path.rpartition(".")[0] + ".html"


def markdown_page(path: str) -> str:
    """Where a page lies as Markdown, by its source below docs/: beside its HTML, under the same name."""
    return path.rpartition(".")[0] + ".md"


def beside(claim_id: str, ending: str) -> str:
    """A file about a claim, beside its page: `.json`, `.csv`, `.svg`."""
    return claim_page(claim_id).removesuffix(".md") + ending


def evidence_file(session_path: str) -> str:
    """Where the site publishes a session's raw data."""
    return session_path.removeprefix("checks/")
