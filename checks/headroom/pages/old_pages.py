"""Resolve old addresses of pages, methods and terms to their present ones.

An address is a page's path without its suffix, such as `training/cpu`, with an optional anchor.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from headroom.pages.source import Page
from headroom.records import Tree

TOP = "top"
"""The key of a page's `was` for the page itself."""
GLOSSARY = "concepts/glossary.md"
"""The glossary's page, which is generated from records."""


@dataclass(frozen=True, slots=True)
class Lead:
    """One old address with its present target."""

    old: str
    target: str
    """A page below docs/, with an optional anchor."""
    path: str
    """The file that declares it."""
    field: tuple[str, ...] = ("was",)


@dataclass(frozen=True, slots=True)
class OldPage:
    """An old page's target, and the targets of its anchors."""

    target: str
    """The target of the page and of anchors without an entry; empty if the page still exists."""
    anchors: Mapping[str, str] = field(default_factory=dict)


def address(page: Page) -> str:
    """Return the address of a page."""
    return of_path(page.path)


def of_path(path: str) -> str:
    """Return the address of the page that a file below docs/ makes."""
    return PurePosixPath(path).with_suffix("").as_posix().removeprefix("docs/")


def leads(tree: Tree, pages: Iterable[Page]) -> Iterator[Lead]:
    """Yield every old address that a page, method or term declares."""
    for page in pages:
        name = page.path.removeprefix("docs/")
        for place, olds in page.was.items():
            target = name if place == TOP else f"{name}#{place}"
            yield from (Lead(old, target, page.path, ("was", place)) for old in olds)
    for method in tree.methods.values():
        yield from (Lead(old, method.section, f"checks/methods/{method.id}.yml") for old in method.was)
    for name, term in tree.glossary.items():
        path = tree.term_paths[name]
        yield from (Lead(old, f"{GLOSSARY}#{name}", path, (name, "was")) for old in term.was)


def moved_anchors(found: Iterable[Lead], pages: Iterable[Page]) -> Iterator[Lead]:
    """Yield the anchors that moved from an existing page to its parts, without those that several parts have."""
    existing = {address(page): page for page in pages}
    of_file = {page.path: page for page in existing.values()}
    every = list(found)
    declared = {lead.old for lead in every}
    moved = [
        Lead(f"{lead.old}#{anchor}", f"{lead.target}#{anchor}", lead.path, lead.field)
        for lead in every
        if lead.old in existing and lead.path in of_file and "#" not in lead.target
        for anchor in sorted(of_file[lead.path].anchors - existing[lead.old].anchors)
    ]
    times = Counter(lead.old for lead in moved)
    return (lead for lead in moved if times[lead.old] == 1 and lead.old not in declared)


def old_pages(tree: Tree, pages: Iterable[Page]) -> dict[str, OldPage]:
    """Return every old page by its address, and every existing page that has lost an anchor."""
    pages = list(pages)
    found = list(leads(tree, pages))
    existing = {address(page) for page in pages}
    anchors: dict[str, dict[str, str]] = {lead.old.partition("#")[0]: {} for lead in found}
    for lead in (*found, *moved_anchors(found, pages)):
        name, _, anchor = lead.old.partition("#")
        if anchor:
            anchors[name][anchor] = lead.target
    targets = {lead.old: lead.target for lead in found if lead.old not in existing}
    return {name: OldPage(targets.get(name, ""), anchors[name]) for name in sorted(anchors)}


def resolver(tree: Tree, pages: Iterable[Page]) -> Callable[[str], bool]:
    """Return a function that says whether an address exists or is redirected."""
    pages = list(pages)
    old, existing = old_pages(tree, pages), {*_existing(tree, pages)}

    def resolves(asked: str) -> bool:
        name, _, anchor = asked.partition("#")
        gone = old.get(name)
        return asked in existing or (gone is not None and (bool(gone.target) or anchor in gone.anchors))

    return resolves


def all_addresses(tree: Tree, pages: Iterable[Page]) -> set[str]:
    """Return every address that exists or is redirected."""
    pages = list(pages)
    old = old_pages(tree, pages).items()
    return {*_existing(tree, pages), *(f"{name}#{anchor}" for name, page in old for anchor in page.anchors), *dict(old)}


def _existing(tree: Tree, pages: Iterable[Page]) -> Iterator[str]:
    for page in pages:
        yield address(page)
        yield from (f"{address(page)}#{anchor}" for anchor in page.anchors)
    glossary = GLOSSARY.removesuffix(".md")
    yield from (f"{glossary}#{name}" for name in tree.glossary)
