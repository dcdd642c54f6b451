"""What differs between a tree and an earlier commit of it, in verdicts, claims and evidence."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from headroom.io import safe_read
from headroom.io.git_history import Revision
from headroom.io.safe_read import UnreadableError
from headroom.pages import old_pages
from headroom.pages.source import load_pages
from headroom.records import Claim, Problem, Tree, load
from headroom.verdicts import Board, judge_all
from headroom.verdicts.summary import VerdictRow, rows

RULE = "history"
# What verdicts may follow from, and addresses.
_READ = (
    *("checks/registry", "checks/evidence", "checks/machines"),
    *("checks/benchmarks", "checks/facts", "checks/methods", "checks/glossary"),
    "docs",
)
ADD_ONLY = ("checks/evidence", "checks/machines")
"""The folders whose files are never changed and never deleted."""
JUDGING = ("checks/headroom", "tests", ".github", ".ci", "Makefile", "pyproject.toml", "mkdocs.yml")
"""What decides what is found. A change of it is looked at by other people than a change of data."""

_Key = tuple[str, str, tuple[tuple[str, object], ...]]
"""A claim, a hardware class and a point."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A claim on a hardware class at a point, before and after; None where it was not said, or is not any more."""

    claim: str
    hardware_class: str
    point: Mapping[str, object]
    before: VerdictRow | None
    after: VerdictRow | None


@dataclass(frozen=True, slots=True)
class Reworded:
    """A claim that is no longer what it was, and the fields in which it differs."""

    claim: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a change does."""

    verdicts: tuple[Moved, ...]
    """Another verdict, or another reason for it."""
    renewed: tuple[Moved, ...]
    """The same verdict on another session."""
    added: tuple[Claim, ...]
    retired: tuple[Claim, ...]
    reworded: tuple[Reworded, ...]
    evidence: tuple[str, ...]
    """The sessions that are new."""
    judging: tuple[str, ...]
    """The files among ``JUDGING`` that are touched."""
    faulty: tuple[str, ...]
    """Files with a problem of their own, which `headroom check` names: what they would say may not be in here."""
    problems: tuple[Problem, ...]
    """What may never happen: evidence that is gone or another, an id of a claim or an address that is gone."""


def changes(root: Path, against: str) -> Changes:
    """Compare a tree with the commit that ``against`` names, both judged by the same code.

    Raises:
        HistoryError: git cannot say what the commit held.
    """
    revision = Revision.of(root, against)
    with TemporaryDirectory(prefix="headroom-") as folder:
        past = Path(folder)
        revision.write(past, *_READ)
        earlier, tree = load(past), load(root)
        then, now = judge_all(earlier), judge_all(tree)
        broken = tuple(sorted([*_lost_files(past, root, against), *_lost_claims(earlier, tree, against)]))
        broken += tuple(_lost_addresses(past, earlier, root, tree))
    moved = list(_moved(_rows(earlier, then), _rows(tree, now)))
    known = {session.path for session in earlier.sessions}
    return Changes(
        verdicts=tuple(each for each in moved if _said(each.before) != _said(each.after)),
        renewed=tuple(each for each in moved if _said(each.before) == _said(each.after)),
        added=tuple(claim for name, claim in tree.claims.items() if name not in earlier.claims),
        retired=tuple(new for old, new in _same(earlier, tree) if _retired(new) and not _retired(old)),
        reworded=tuple(_reworded(earlier, tree)),
        evidence=tuple(session.path for session in tree.sessions if session.path not in known),
        judging=revision.touched(*JUDGING),
        faulty=tuple(sorted({problem.path for problem in tree.problems})),
        problems=broken,
    )


def _lost_files(past: Path, root: Path, against: str) -> Iterator[Problem]:
    """The files of the past that may only be added to, and are gone or hold something else."""
    for path in (path for folder in ADD_ONLY for path in safe_read.below(past / folder)):
        name = path.relative_to(past).as_posix()
        remedy = f"restore it, `git checkout {against} -- {name}`, and add a new file for what is new"
        try:
            data = safe_read.read_bytes(root / name, root, limit=safe_read.MAX_JSON_BYTES)
        except UnreadableError as error:
            yield Problem(name, None, RULE, "", f"it was there, and now: {error.message}", remedy)
        else:
            if _content(data) != _content(path.read_bytes()):
                yield Problem(name, None, RULE, "", "it is not what it was", remedy)


def _content(data: bytes) -> bytes:
    """The bytes of a file whichever system ended its lines: git may end them otherwise than it keeps them."""
    return data.replace(b"\r\n", b"\n")


def _lost_claims(earlier: Tree, tree: Tree, against: str) -> Iterator[Problem]:
    """The claims whose id is gone. One that cannot be read is still there."""
    unread = {problem.path for problem in tree.problems}
    for name in sorted(set(earlier.claims) - set(tree.claims)):
        path = earlier.claim_paths[name]
        if path not in unread:
            remedy = f"restore it, `git checkout {against} -- {path}`, and retire it if it is no longer to be said"
            yield Problem(path, None, RULE, "id", f"the claim `{name}` is gone, and ids are permanent", remedy)


def _lost_addresses(past: Path, earlier: Tree, root: Path, tree: Tree) -> Iterator[Problem]:
    """The addresses of pages and of places on them that led somewhere, and lead nowhere any more."""
    pages, problems = load_pages(root)
    unread = {old_pages.of_path(problem.path) for problem in problems}
    resolves = old_pages.resolver(tree, pages)
    for lost in sorted(old_pages.all_addresses(earlier, load_pages(past)[0])):
        name = lost.partition("#")[0]
        if not resolves(lost) and name not in unread:
            remedy = f"say `was: [{lost}]` in the page, the method or the word that answers it now"
            yield Problem(f"docs/{name}", None, RULE, "", f"the address `{lost}` leads nowhere any more", remedy)


def _same(earlier: Tree, tree: Tree) -> Iterator[tuple[Claim, Claim]]:
    """The claims that both trees have, in both."""
    return ((old, tree.claims[name]) for name, old in earlier.claims.items() if name in tree.claims)


def _retired(claim: Claim) -> bool:
    return claim.retired is not None


def _reworded(earlier: Tree, tree: Tree) -> Iterator[Reworded]:
    for old, new in _same(earlier, tree):
        before, after = old.model_dump(), new.model_dump()
        names = (name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name))
        if fields := tuple(names):
            yield Reworded(new.id, fields)


def _rows(tree: Tree, board: Board) -> dict[_Key, VerdictRow]:
    """The verdicts of a tree. A claim that is disputed on a class is so at each of its points."""
    found = {}
    for row in rows(tree, board):
        standing = board.standings[row.claim].get(row.hardware_class)
        disputed = standing is not None and standing.status == "disputed"
        found[_key(row)] = replace(row, status="disputed") if disputed else row
    return found


def _key(row: VerdictRow) -> _Key:
    return (row.claim, row.hardware_class, tuple(sorted(row.point.items())))


def _moved(before: Mapping[_Key, VerdictRow], after: Mapping[_Key, VerdictRow]) -> Iterator[Moved]:
    """Every verdict that is another one, or stands on another session.

    What has not been measured has one row without a point: it is the other side of each point's row.
    """
    keys = sorted({*before, *after}, key=repr)
    claims = {claim for claim, _, _ in after}
    pointed = {(claim, where) for claim, where, point in keys if point}
    for claim, where, point in keys:
        if claim not in claims or (not point and (claim, where) in pointed):
            continue
        old, new = (side.get((claim, where, point)) or side.get((claim, where, ())) for side in (before, after))
        if _said(old) != _said(new) or (old and new and old.session != new.session):
            yield Moved(claim, where, dict(point), old, new)


def _said(row: VerdictRow | None) -> tuple[str, str] | None:
    return (row.status, row.reason) if row else None
