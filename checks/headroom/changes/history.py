"""The tree as git holds it at an earlier commit. Nothing is checked out: what is asked for is written elsewhere."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from headroom.writing import UnwritableError

_PLAIN = ("100644", "100755")  # a file; links and other repositories are neither read nor written
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
# Set inside a hook, and then they name another repository than the one that the tree lies in.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_CHUNK = 1 << 20


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
                with path.open("wb") as stream:
                    stream.writelines(data)
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

    def _contents(self, blobs: Mapping[str, str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each file's path and its bytes, which must be read before the next is asked for."""
        with subprocess.Popen(  # noqa: S603 - fixed words
            _command(self.root, "cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        ) as process:
            assert process.stdin
            assert process.stdout
            for path, blob in blobs.items():
                process.stdin.write(f"{blob}\n".encode())
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3 or head[1] != b"blob":  # noqa: PLR2004 - name, kind and size
                    raise HistoryError(f"git cannot read `{path}` at `{self.name}`{_why(self.root)}")
                yield path, _part(process.stdout, int(head[2]))
                process.stdout.read(1)  # the end of its line


def _part(stream: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0 and (data := stream.read(min(size, _CHUNK))):
        size -= len(data)
        yield data
    if size:
        raise HistoryError("git ended in the middle of a file; call it again")


def _why(root: Path) -> str:
    """What may be behind something that is missing."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        return ", and the clone is shallow; run `git fetch --unshallow`, or in a workflow set a fetch-depth"
    return "; fetch it, or correct the name"


def _git(root: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and what a caller names cannot be taken for an option
            _command(root, *words), capture_output=True, check=False, env=_environment()
        )
    except FileNotFoundError:
        raise HistoryError("git is missing; install it") from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split()) or f"it ended with {done.returncode}"
        raise HistoryError(f"git {words[0]} fails in {root}: {said}; call it in a clone of the project")
    return done.stdout


def _command(root: Path, *words: str) -> list[str]:
    return ["git", "-C", str(root), *words]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}
