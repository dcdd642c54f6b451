"""Read the last commit's date, and files of earlier commits, from git, without checking anything out."""

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

_PLAIN = ("100644", "100755")  # regular files; symbolic links and submodules are neither read nor written
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
_COMMIT_HEADER = re.compile(rb"\A([0-9a-f]{40,64}) commit \d+\n")
_COMMITTER = re.compile(rb"^committer .*> (\d{1,15}) [+-]\d{4}$", re.MULTILINE)
_TIMEOUT_SECONDS = 10
# Git sets these inside a hook, where they may name another repository than the tree's.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class HistoryError(ValueError):
    """A question that git cannot answer, with a remedy."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of the repository that contains a tree."""

    root: Path
    """The tree, possibly a subfolder of the repository."""
    name: str
    """The name by which the caller asked for the commit."""
    commit: str

    @classmethod
    def of(cls, root: Path, name: str) -> "Revision":
        """Return the commit of a name.

        Raises:
            HistoryError: git is not installed, or there is no repository or no such commit.
        """
        if _git(root, "rev-parse", "--is-inside-work-tree").strip() != b"true":
            raise HistoryError(f"{root} is not a git work tree; run the command in a clone of the project")
        try:
            found = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except HistoryError:
            raise HistoryError(f"git has no commit `{name}`{_why_missing(root)}") from None
        return cls(root, name, found.decode().strip())

    def write(self, into: Path, *folders: str) -> None:
        """Write the content of these folders at this commit into another folder.

        Raises:
            HistoryError: git fails, a file name is unsafe, or the commit has none of these folders.
            UnwritableError: the files cannot be written.
        """
        blobs = self._blobs(*folders)
        if not blobs:
            raise HistoryError(f"`{self.name}` has none of {', '.join(folders)}; name a commit of this project")
        try:
            for name, data in self._contents(blobs):
                path = into / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        except OSError as error:
            raise UnwritableError(into, error) from error

    def touched(self, *paths: str) -> tuple[str, ...]:
        """Return the files below these paths that differ from this commit, including deleted and added ones."""
        command = ("diff", "--name-only", "--no-ext-diff", "--no-renames", "--relative", "-z", self.commit)
        listed = _git(self.root, *command, "--", *paths)
        added = _git(self.root, "ls-files", "--others", "--exclude-standard", "-z", "--", *paths)
        names = {name for name in (listed + added).decode(errors="replace").split("\0") if name}
        return tuple(sorted(name if _NAME.fullmatch(name) else ascii(name) for name in names))

    def _blobs(self, *folders: str) -> dict[str, str]:
        """Return the regular files below these folders: path → hash of the blob."""
        found = {}
        for entry in _git(self.root, "ls-tree", "-r", "-z", self.commit, *folders).split(b"\0"):
            head, _, path = entry.decode(errors="replace").partition("\t")
            if not path or (mode_kind_blob := head.split(" "))[0] not in _PLAIN:
                continue
            if not _NAME.fullmatch(path) or path.startswith("/") or ".." in PurePosixPath(path).parts:
                raise HistoryError(f"`{self.name}` has an unsupported file name, {path!a}; compare with another commit")
            found[path] = mode_kind_blob[2]
        return found

    def _contents(self, blobs: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the bytes of each file, as committed.

        ``git archive`` would omit files with the attribute ``export-ignore`` and rewrite line endings.
        """
        asked = "".join(f"{blob}\n" for blob in blobs.values())
        answer = BytesIO(_git(self.root, "cat-file", "--batch", given=asked.encode()))
        for path in blobs:
            head = answer.readline().split()
            if len(head) != 3 or head[1] != b"blob":  # noqa: PLR2004 - name, kind and size
                raise HistoryError(f"git cannot read `{path}` at `{self.name}`{_why_missing(self.root)}")
            yield path, answer.read(int(head[2]))
            answer.read(1)  # the end of its line


def _why_missing(root: Path) -> str:
    """Return the probable cause of a missing object, with a remedy."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return ", and the clone is shallow; run `git fetch --unshallow`, or set fetch-depth in a workflow"
    return "; fetch it, or correct the name"


def _git(root: Path, *words: str, given: bytes = b"") -> bytes:
    command = ["git", "-C", str(root), *words]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, env=_environment())  # noqa: S603 - no shell, and git cannot mistake an argument for an option
    except FileNotFoundError:
        raise HistoryError("git is not installed; install it") from None
    if done.returncode:
        message = " ".join(done.stderr.decode(errors="replace").split()) or f"exit status {done.returncode}"
        raise HistoryError(f"git {words[0]} fails in {root}: {message}; run the command in a clone of the project")
    return done.stdout


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its hash in hexadecimal, and its committer date in UTC, as YYYY-MM-DD."""

    id: str
    day: str


def last_commit_day(root: Path) -> str | None:
    """Return the day, in UTC, of the commit that is checked out; None as ``last_commit``."""
    found = last_commit(root)
    return found.day if found else None


def last_commit(root: Path) -> Commit | None:
    """Return the commit that is checked out.

    Return None if ``root`` is not the top folder of a repository, or git is not installed or fails. A shallow clone is
    enough. ``git cat-file`` neither runs a program from the repository's configuration nor fetches objects.
    """
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_LAZY_FETCH": "1", "GIT_CEILING_DIRECTORIES": str(root.resolve().parent)}
    command = [git, "-C", str(root), "cat-file", "--batch"]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            command, input=b"HEAD\n", capture_output=True, timeout=_TIMEOUT_SECONDS, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _parse_commit(done.stdout) if done.returncode == 0 else None


def _parse_commit(answer: bytes) -> Commit | None:
    """Parse the output of ``git cat-file --batch``; None if it has no commit or no valid date."""
    name, committed = _COMMIT_HEADER.match(answer), _COMMITTER.search(answer.partition(b"\n\n")[0])
    if name is None or committed is None:
        return None
    try:
        return Commit(name[1].decode(), f"{datetime.fromtimestamp(int(committed[1]), UTC):%Y-%m-%d}")
    except (ValueError, OverflowError, OSError):  # a year beyond 9999
        return None


def latest_day(root: Path) -> str:
    """Return the latest day that a record may have: one after the last commit or after today, whichever is later.

    Today counts because a record is in the tree before it is committed. A valid date never becomes invalid with time.
    """
    newest = max(f"{datetime.now(UTC):%Y-%m-%d}", last_commit_day(root) or "")
    try:
        return (date.fromisoformat(newest) + timedelta(days=1)).isoformat()
    except OverflowError:  # on 9999-12-31
        return newest
