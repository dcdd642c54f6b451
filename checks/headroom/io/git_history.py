"""The tree as git holds it at an earlier commit. Nothing is checked out: what is asked for is written elsewhere."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from pathlib import Path, PurePosixPath

from headroom.io.atomic_write import UnwritableError

_PLAIN = ("100644", "100755")  # a file; links and other repositories are neither read nor written
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
_COMMIT_HEADER = re.compile(rb"\A([0-9a-f]{40,64}) commit \d+\n")
_COMMITTER = re.compile(rb"^committer .*> (\d{1,15}) [+-]\d{4}$", re.MULTILINE)
_TIMEOUT_SECONDS = 10
# Set inside a hook, and then they name another repository than the one that the tree lies in.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class HistoryError(ValueError):
    """What git cannot tell, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of the repository that a tree lies in."""

    root: Path
    """The tree; the repository may reach further up."""
    name: str
    """What the commit was asked for as."""
    commit: str

    @classmethod
    def of(cls, root: Path, name: str) -> "Revision":
        """The commit that a name stands for.

        Raises:
            HistoryError: there is no git, no repository or no such commit.
        """
        if _git(root, "rev-parse", "--is-inside-work-tree").strip() != b"true":
            raise HistoryError(f"{root} is no work tree of git; call it in a clone of the project")
        try:
            found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except HistoryError:
            raise HistoryError(f"git knows no commit `{name}`{_why(root)}") from None
        return cls(root, name, found.decode().strip())

    def write(self, into: Path, *folders: str) -> None:
        """Write what these folders held at this commit into another folder.

        Raises:
            HistoryError: git fails, a name leads elsewhere, or the commit has none of these folders.
            UnwritableError: there is no room.
        """
        blobs = self._blobs(*folders)
        if not blobs:
            raise HistoryError(f"`{self.name}` holds none of {', '.join(folders)}; name a commit of this project")
        try:
            for name, data in self._contents(blobs):
                path = into / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        except OSError as error:
            raise UnwritableError(into, error) from error

    def touched(self, *paths: str) -> tuple[str, ...]:
        """The files below these paths that differ from this commit, those that are gone and added among them."""
        command = ("diff", "--name-only", "--no-ext-diff", "--no-renames", "--relative", "-z", self.commit)
        listed = _git(self.root, *command, "--", *paths)
        added = _git(self.root, "ls-files", "--others", "--exclude-standard", "-z", "--", *paths)
        names = {name for name in (listed + added).decode(errors="replace").split("\0") if name}
        return tuple(sorted(name if _NAME.fullmatch(name) else ascii(name) for name in names))

    def _blobs(self, *folders: str) -> dict[str, str]:
        """The plain files below these folders by path, with git's name of what they hold."""
        found = {}
        for entry in _git(self.root, "ls-tree", "-r", "-z", self.commit, *folders).split(b"\0"):
            head, _, path = entry.decode(errors="replace").partition("\t")
            if not path or (mode_kind_blob := head.split(" "))[0] not in _PLAIN:
                continue
            if not _NAME.fullmatch(path) or path.startswith("/") or ".." in PurePosixPath(path).parts:
                raise HistoryError(f"`{self.name}` holds an odd name, {path!a}; compare with another commit")
            found[path] = mode_kind_blob[2]
        return found

    def _contents(self, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the bytes of each file, as they were committed.

        ``git archive`` would omit what the attribute ``export-ignore`` names, and rewrite ends of lines.
        """
        asked = "".join(f"{blob}\n" for blob in blobs.values())
        answer = BytesIO(_git(self.root, "cat-file", "--batch", given=asked.encode()))
        for path in blobs:
            head = answer.readline().split()
            if len(head) != 3 or head[1] != b"blob":  # noqa: PLR2004 - name, kind and size
                raise HistoryError(f"git cannot read `{path}` at `{self.name}`{_why(self.root)}")
            yield path, answer.read(int(head[2]))
            answer.read(1)  # the end of its line


def _why(root: Path) -> str:
    """What may be behind something that is missing."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return ", and the clone is shallow; run `git fetch --unshallow`, or in a workflow set a fetch-depth"
    return "; fetch it, or correct the name"


def _git(root: Path, *words: str, given: bytes = b"") -> bytes:
    command = ["git", "-C", str(root), *words]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, env=_environment())  # noqa: S603 - no shell, and what a caller names cannot be taken for an option
    except FileNotFoundError:
        raise HistoryError("git is missing; install it") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split()) or f"it ended with {done.returncode}"
        raise HistoryError(f"git {words[0]} fails in {root}: {said}; call it in a clone of the project")
    return done.stdout


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its hash in hexadecimal, and the day, in UTC, on which it was made."""

    id: str
    day: str


def last_commit_day(root: Path) -> str | None:
    """Return the day, in UTC, on which the commit that is checked out was made; None as ``last_commit``."""
    found = last_commit(root)
    return found.day if found else None


def last_commit(root: Path) -> Commit | None:
    """Return the commit that is checked out.

    None where ``root`` is not the top of a repository, where git is missing, or where it refuses to answer. A clone of
    one commit is enough. The commit itself is read, which runs nothing that a repository's settings could name, and
    fetches nothing.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_CEILING_DIRECTORIES": str(root.resolve().parent)}
    command = [git, "-C", str(root), "cat-file", "--batch"]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command, input=b"HEAD\n", capture_output=True, timeout=_TIMEOUT_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _parse_commit(done.stdout) if done.returncode == 0 else None


def _parse_commit(answer: bytes) -> Commit | None:
    """Return the commit that ``git cat-file --batch`` printed; None where it printed none, or no day."""
    name, committed = _COMMIT_HEADER.match(answer), _COMMITTER.search(answer.partition(b"\n\n")[0])
    if name is None or committed is None:
        return None
    try:
        return Commit(name[1].decode(), f"{datetime.fromtimestamp(int(committed[1]), UTC):%Y-%m-%d}")
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return None


def latest_day(root: Path) -> str:
    """Return the last day that a record can be of: one after the last commit or after today, whichever is later.

    What was measured today stands in the tree before it is committed. Time alone never makes a date wrong.
    """
    newest = max(f"{datetime.now(UTC):%Y-%m-%d}", last_commit_day(root) or "")
    try:
        return (date.fromisoformat(newest) + timedelta(days=1)).isoformat()
    except OverflowError:  # of the last day that a calendar has
        return newest
