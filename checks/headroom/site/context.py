"""What every part of the site reads: the judged tree, the page in hand, and where each thing lies on the site."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headroom.prose.pages import Page, load_pages
from headroom.records import Claim, Tree
from headroom.verdicts import Board, read

INDEX = "claims/index.md"
"""The page that lists every claim."""


@dataclass(frozen=True, slots=True)
class SiteData:
    """A tree and what it proves, read once a build."""

    tree: Tree
    board: Board
    repository: str = ""
    """Where its source is kept and issues are opened, or nothing."""
    guides: tuple[Page, ...] = ()
    """The pages that choices of the start page lead to, by their front matter."""

    @classmethod
    def load(cls, root: Path | str, repository: str = "") -> "SiteData":
        """Read and judge a tree."""
        guides = tuple(page for page in load_pages(Path(root))[0] if page.answers)
        return cls(*read(root), repository, guides)

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

    @classmethod
    def of(cls, path: str, meta: Mapping[str, Any]) -> "PageContext":
        """A page from its path and its front matter, whose `hardware` names one class or a list of them."""
        hardware = meta.get("hardware") or ()
        return cls(path, (hardware,) if isinstance(hardware, str) else tuple(hardware))

    def href(self, target: str) -> str:
        """The relative link from this page to another source file, which the generator turns into an address."""
        return posixpath.relpath(target, posixpath.dirname(self.path) or ".")


def claim_page(claim_id: str) -> str:
    """The page of a claim, below docs/: the same place that its record has below checks/registry/."""
    return f"claims/{claim_id.replace('.', '/', 1).replace('.', '-')}.md"


def evidence_file(session_path: str) -> str:
    """Where the site publishes a session's raw data."""
    return session_path.removeprefix("checks/")
