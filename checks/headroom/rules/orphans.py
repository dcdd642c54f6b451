"""Rule `orphans`: report unused claims, benchmarks, sessions, facts and files, and pages outside of the navigation."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from headroom.io.safe_read import UnreadableError, read_text
from headroom.pages.link_targets import ClaimTarget
from headroom.records import Problem
from headroom.records.problems import relative, unreadable
from headroom.rules.context import Context

_CONFIG = "mkdocs.yml"
_PAGES = (".md", ".ipynb")
_NAMED = re.compile(r"[\w./-]+")


def orphans(context: Context) -> Iterator[Problem]:
    """Report unused claims, benchmarks, sessions, facts and files, and pages that the navigation does not reach."""
    yield from _config(context)
    yield from _benchmarks(context)
    yield from _pages(context)
    if not any(problem.rule == "pages" for problem in context.problems):  # an unreadable page may use anything
        yield from _claims(context)
        yield from _facts(context)
        yield from _files(context)


def _config(context: Context) -> Iterator[Problem]:
    try:
        if not any(name.endswith(_PAGES) for name in _named(context.tree.root)):
            yield Problem(_CONFIG, 1, "orphans", "", "the file lists no page", "list the pages in its `nav`")
    except UnreadableError as error:
        if os.path.lexists(context.tree.root / _CONFIG):  # a tree of records alone has no site
            yield unreadable(_CONFIG, "orphans", error)


def _claims(context: Context) -> Iterator[Problem]:
    tree = context.tree
    linked = (*context.claim_links, *context.let_links)
    used = {target.claim for _, _, target in linked if isinstance(target, ClaimTarget)}
    used |= {name for method in tree.methods.values() for names in method.claims.values() for name in names}
    faulty = _faulty(context)
    active = {name for name, claim in tree.claims.items() if not claim.retired}
    for name in sorted(active - used):
        remedy = "link it on a page, list it in its method, or delete it"
        if tree.claim_paths[name] not in faulty:
            yield Problem(tree.claim_paths[name], 1, "orphans", "", "no page and no method uses the claim", remedy)


def _benchmarks(context: Context) -> Iterator[Problem]:
    tree = context.tree
    claimed = {claim.benchmark for claim in tree.measured()}
    for name in sorted(set(tree.benchmarks) - claimed):
        path = f"checks/benchmarks/{name}.py"
        yield Problem(path, 1, "orphans", "", "no claim is measured with it", "add a claim that uses it, or delete it")
    for session in tree.sessions:
        if session.head.benchmark not in claimed:
            message = f"no claim is measured with `{session.head.benchmark}`"
            remedy = "restore the claim, and retire it instead of deleting it"
            yield Problem(session.path, 1, "orphans", "/benchmark", message, remedy)


def _facts(context: Context) -> Iterator[Problem]:
    linked = {link.href for _, link, _ in (*context.links, *context.let_links)}
    for name, sheet in context.tree.facts.items():
        for figure in sheet.figures:
            if f"fact:{name}.{figure}" not in linked:
                message, remedy = f"no page links the figure `{figure}`", "link it on a page, or delete it"
                yield Problem(f"checks/facts/{name}.yml", 1, "orphans", f"figures.{figure}", message, remedy)


def _pages(context: Context) -> Iterator[Problem]:
    root, faulty = context.tree.root, _faulty(context)
    for path in _below_docs(root):
        if path.suffix in _PAGES and relative(path, root) not in faulty:
            remedy = f"add it to `nav` in {_CONFIG}, or delete it"
            yield Problem(relative(path, root), 1, "orphans", "", "the navigation does not reach the page", remedy)


def _files(context: Context) -> Iterator[Problem]:
    root = context.tree.root
    for path in _below_docs(root):
        if path.suffix not in _PAGES and not any(path.name in page.markdown for page in context.pages):
            remedy = f"use it on a page or in {_CONFIG}, or delete it"
            yield Problem(relative(path, root), 1, "orphans", "", "no page uses the file", remedy)


def _faulty(context: Context) -> set[str]:
    """Return the files with problems of their own, which are reported first."""
    return {problem.path for problem in context.problems}


def _named(root: Path) -> set[str]:
    """Return the words of mkdocs.yml that may be file names.

    Raises:
        UnreadableError: the file is missing or cannot be read.
    """
    return {word.rstrip(".") for word in _NAMED.findall(read_text(root / _CONFIG, root))}


def _below_docs(root: Path) -> Iterator[Path]:
    """Yield the files below docs/ that mkdocs.yml does not name; none if it names no page."""
    try:
        named = _named(root)
    except UnreadableError:
        return
    if not any(name.endswith(_PAGES) for name in named):
        return
    for path in sorted(path for path in (root / "docs").rglob("*") if path.is_file()):
        name = path.relative_to(root / "docs")
        if name.as_posix() not in named and not any(part.startswith(".") for part in name.parts):
            yield path
