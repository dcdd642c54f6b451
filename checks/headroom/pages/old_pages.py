"""Old addresses: which page, method or term says that it was at one, and where each leads today.

An address is that of a page without its ending, as `training/cpu`, and may have an anchor behind it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from headroom.pages.source import Page
from headroom.records import Tree

TOP = "top"
"""The place of a page's `was` that stands for the page itself."""
GLOSSARY = "concepts/glossary.md"
"""The page of the words, which is made from records."""


@dataclass(frozen=True, slots=True)
class Lead:
    """One old address, and where it leads."""

    old: str
    target: str
    """A page below docs/, and maybe an anchor on it."""
    path: str
    """The file that says so."""
    field: tuple[str, ...] = ("was",)


@dataclass(frozen=True, slots=True)
class OldPage:
    """An old address without an anchor, and where it and the anchors on it lead."""

    target: str
    """Where it leads, as do anchors that nothing is said of; empty where the page still stands."""
    anchors: Mapping[str, str] = field(default_factory=dict)


def address(page: Page) -> str:
    """The address of a page."""
    return of_path(page.path)


def of_path(path: str) -> str:
    """The address of the page that a file below docs/ makes."""
    return PurePosixPath(path).with_suffix("").as_posix().removeprefix("docs/")


def leads(tree: Tree, pages: Iterable[Page]) -> Iterator[Lead]:
    """Every old address that something says it was at."""
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


def parts(found: Iterable[Lead], pages: Iterable[Page]) -> Iterator[Lead]:
    """The anchors of pages that were part of a page that still stands: one that two parts have leads nowhere."""
    standing = {address(page): page for page in pages}
    of_file = {page.path: page for page in standing.values()}
    every = list(found)
    said = {lead.old for lead in every}
    moved = [
        Lead(f"{lead.old}#{anchor}", f"{lead.target}#{anchor}", lead.path, lead.field)
        for lead in every
        if lead.old in standing and lead.path in of_file and "#" not in lead.target
        for anchor in sorted(of_file[lead.path].anchors - standing[lead.old].anchors)
    ]
    times = Counter(lead.old for lead in moved)
    return (lead for lead in moved if times[lead.old] == 1 and lead.old not in said)


def old_pages(tree: Tree, pages: Iterable[Page]) -> dict[str, OldPage]:
    """Every old page, by its address, and every page that stands and has lost a part."""
    pages = list(pages)
    found = list(leads(tree, pages))
    standing = {address(page) for page in pages}
    anchors: dict[str, dict[str, str]] = {lead.old.partition("#")[0]: {} for lead in found}
    for lead in (*found, *parts(found, pages)):
        name, _, anchor = lead.old.partition("#")
        if anchor:
            anchors[name][anchor] = lead.target
    targets = {lead.old: lead.target for lead in found if lead.old not in standing}
    return {name: OldPage(targets.get(name, ""), anchors[name]) for name in sorted(anchors)}


def answered(tree: Tree, pages: Iterable[Page]) -> Callable[[str], bool]:
    """Whether an address leads somewhere: to what stands, or from what stood there once."""
    pages = list(pages)
    old, standing = old_pages(tree, pages), {*_standing(tree, pages)}

    def leads_on(asked: str) -> bool:
        name, _, anchor = asked.partition("#")
        gone = old.get(name)
        return asked in standing or (gone is not None and (bool(gone.target) or anchor in gone.anchors))

    return leads_on


def every(tree: Tree, pages: Iterable[Page]) -> set[str]:
    """Every address that is known to lead somewhere."""
    pages = list(pages)
    old = old_pages(tree, pages).items()
    return {*_standing(tree, pages), *(f"{name}#{anchor}" for name, page in old for anchor in page.anchors), *dict(old)}


def _standing(tree: Tree, pages: Iterable[Page]) -> Iterator[str]:
    for page in pages:
        yield address(page)
        yield from (f"{address(page)}#{anchor}" for anchor in page.anchors)
    glossary = GLOSSARY.removesuffix(".md")
    yield from (f"{glossary}#{name}" for name in tree.glossary)
