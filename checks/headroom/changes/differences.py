"""Find the differences in verdicts, claims, evidence and addresses between a tree and an earlier commit."""

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
# The folders that verdicts and addresses depend on.
_READ = (
    *("checks/registry", "checks/evidence", "checks/machines", "checks/published"),
    *("checks/benchmarks", "checks/facts", "checks/facts/accelerators", "checks/methods", "checks/glossary"),
    "docs",
)
ADD_ONLY = ("checks/evidence", "checks/machines")
"""The folders whose files must never be changed or deleted."""
JUDGING = ("checks/headroom", "tests", ".github", ".ci", "Makefile", "pyproject.toml", "mkdocs.yml")
"""The code that judges. Other people review its changes than review changes of data."""

_Key = tuple[str, str, tuple[tuple[str, object], ...]]
"""A claim, a hardware class and a point."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """The verdict of a claim on a hardware class at a point, before and after; None where there is none."""

    claim: str
    hardware_class: str
    point: Mapping[str, object]
    before: VerdictRow | None
    after: VerdictRow | None


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim whose record has changed, and the changed fields."""

    claim: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """All differences between a tree and an earlier commit."""

    verdicts: tuple[VerdictChange, ...]
    """The verdicts that differ, or have another reason."""
    renewed: tuple[VerdictChange, ...]
    """The same verdicts from another session."""
    added: tuple[Claim, ...]
    retired: tuple[Claim, ...]
    reworded: tuple[ClaimChange, ...]
    evidence: tuple[str, ...]
    """The new sessions."""
    judging: tuple[str, ...]
    """The changed files among ``JUDGING``."""
    faulty: tuple[str, ...]
    """Files with problems that `headroom check` reports; their changes may be missing here."""
    problems: tuple[Problem, ...]
    """Forbidden changes: evidence that was changed or deleted, and deleted claim ids and addresses."""


def changes(root: Path, against: str) -> Changes:
    """Compare a tree with the commit that ``against`` names, both judged by the same code.

    Raises:
        HistoryError: git cannot read the commit.
    """
    revision = Revision.of(root, against)
    with TemporaryDirectory(prefix="headroom-") as folder:
        past = Path(folder)
        revision.write(past, *_READ)
        earlier, tree = load(past), load(root)
        then, now = judge_all(earlier), judge_all(tree)
        broken = tuple(sorted([*_lost_files(past, root, against), *_lost_claims(earlier, tree, against)]))
        broken += tuple(_lost_addresses(past, earlier, root, tree))
    moved = list(verdict_changes(verdict_rows(earlier, then), verdict_rows(tree, now)))
    known = {session.path for session in earlier.sessions}
    return Changes(
        verdicts=tuple(each for each in moved if _status_of(each.before) != _status_of(each.after)),
        renewed=tuple(each for each in moved if _status_of(each.before) == _status_of(each.after)),
        added=tuple(claim for name, claim in tree.claims.items() if name not in earlier.claims),
        retired=tuple(new for old, new in _same(earlier, tree) if _retired(new) and not _retired(old)),
        reworded=tuple(_claim_changes(earlier, tree)),
        evidence=tuple(session.path for session in tree.sessions if session.path not in known),
        judging=revision.touched(*JUDGING),
        faulty=tuple(sorted({problem.path for problem in tree.problems})),
        problems=broken,
    )


def _lost_files(past: Path, root: Path, against: str) -> Iterator[Problem]:
    """Yield a problem for each add-only file of the earlier commit that is gone or has changed."""
    for path in (path for folder in ADD_ONLY for path in safe_read.below(past / folder)):
        name = path.relative_to(past).as_posix()
        remedy = f"restore it with `git checkout {against} -- {name}`, and put new data into a new file"
        try:
            data = safe_read.read_bytes(root / name, root, limit=safe_read.MAX_JSON_BYTES)
        except UnreadableError as error:
            yield Problem(name, None, RULE, "", f"the file of {against} is gone or unreadable: {error.message}", remedy)
        else:
            if _content(data) != _content(path.read_bytes()):
                yield Problem(name, None, RULE, "", f"the file has changed since {against}", remedy)


def _content(data: bytes) -> bytes:
    """Return the bytes of a file with Unix line ends, because git may convert line ends on checkout."""
    return data.replace(b"\r\n", b"\n")


def _lost_claims(earlier: Tree, tree: Tree, against: str) -> Iterator[Problem]:
    """Yield a problem for each deleted claim id. A claim whose file cannot be read does not count as deleted."""
    unread = {problem.path for problem in tree.problems}
    for name in sorted(set(earlier.claims) - set(tree.claims)):
        path = earlier.claim_paths[name]
        if path not in unread:
            remedy = f"restore it with `git checkout {against} -- {path}`, and retire the claim instead of deleting it"
            yield Problem(path, None, RULE, "id", f"the claim `{name}` is gone, but claim ids are permanent", remedy)


def _lost_addresses(past: Path, earlier: Tree, root: Path, tree: Tree) -> Iterator[Problem]:
    """Yield a problem for each address of a page or an anchor that no longer leads anywhere."""
    pages, problems = load_pages(root)
    unread = {old_pages.of_path(problem.path) for problem in problems}
    resolves = old_pages.resolver(tree, pages)
    for lost in sorted(old_pages.all_addresses(earlier, load_pages(past)[0])):
        name = lost.partition("#")[0]
        if not resolves(lost) and name not in unread:
            remedy = f"add `was: [{lost}]` to the page, method or glossary entry that replaces it"
            yield Problem(f"docs/{name}", None, RULE, "", f"the address `{lost}` no longer leads anywhere", remedy)


def _same(earlier: Tree, tree: Tree) -> Iterator[tuple[Claim, Claim]]:
    """Return each claim that both trees have, as (earlier, now)."""
    return ((old, tree.claims[name]) for name, old in earlier.claims.items() if name in tree.claims)


def _retired(claim: Claim) -> bool:
    return claim.retired is not None


def _claim_changes(earlier: Tree, tree: Tree) -> Iterator[ClaimChange]:
    for old, new in _same(earlier, tree):
        before, after = old.model_dump(), new.model_dump()
        names = (name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name))
        if fields := tuple(names):
            yield ClaimChange(new.id, fields)


def verdict_rows(tree: Tree, board: Board) -> dict[_Key, VerdictRow]:
    """Return the verdicts of a tree. A claim that is disputed on a class is disputed at each of its points."""
    found = {}
    for row in rows(tree, board):
        standing = board.standings[row.claim].get(row.hardware_class)
        disputed = standing is not None and standing.status == "disputed"
        found[_key(row)] = replace(row, status="disputed") if disputed else row
    return found


def _key(row: VerdictRow) -> _Key:
    return (row.claim, row.hardware_class, tuple(sorted(row.point.items())))


def verdict_changes(before: Mapping[_Key, VerdictRow], after: Mapping[_Key, VerdictRow]) -> Iterator[VerdictChange]:
    """Yield every verdict that differs or comes from another session.

    A claim without measurements has one row without a point, which is compared with the row of each point.
    """
    keys = sorted({*before, *after}, key=repr)
    claims = {claim for claim, _, _ in after}
    pointed = {(claim, where) for claim, where, point in keys if point}
    for claim, where, point in keys:
        if claim not in claims or (not point and (claim, where) in pointed):
            continue
        old, new = (side.get((claim, where, point)) or side.get((claim, where, ())) for side in (before, after))
        if _status_of(old) != _status_of(new) or (old and new and old.session != new.session):
            yield VerdictChange(claim, where, dict(point), old, new)


def _status_of(row: VerdictRow | None) -> tuple[str, str] | None:
    return (row.status, row.reason) if row else None
