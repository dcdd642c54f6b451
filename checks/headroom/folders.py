"""Folders of many files: what is seen while walking through them need not be asked again of each file."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headroom import files
from headroom.files import UnreadableError


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a folder."""

    name: str
    """Its path from the root of the tree, with forward slashes."""
    path: str
    plain: bool
    """Whether it is known to be what ``files.placed`` wants."""

    @property
    def stem(self) -> str:
        """Its name without folders and ending."""
        return Path(self.name).stem


def walk(root: Path, folder: str) -> Iterator[Found]:
    """As ``files.below``, without what lies in a hidden folder."""
    parts = folder.split("/")
    tops = [root.joinpath(*parts[: i + 1]) for i in range(len(parts))]
    yield from _walk(str(root / folder), folder, plain=not any(top.is_symlink() for top in tops))


def _walk(path: str, name: str, *, plain: bool) -> Iterator[Found]:
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        within = f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith((".", "__pycache__")):
                yield from _walk(entry.path, within, plain=plain)
        else:
            regular = entry.is_file(follow_symlinks=False) and files.NAME.fullmatch(within)
            yield Found(within, entry.path, plain=plain and bool(regular))


def read(found: Found, root: Path, *, limit: int = files.MAX_TEXT_BYTES) -> bytes:
    """The bytes of a file, as ``files.read_bytes`` reads it, and with its errors."""
    if not found.plain:
        return files.read_bytes(Path(found.path), root, limit=limit)
    try:
        with open(found.path, "rb", buffering=0) as handle:  # noqa: PTH123 - a Path costs more than to open the file
            data = handle.read(limit + 1) if os.fstat(handle.fileno()).st_size > limit else handle.readall()
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})", "correct its permissions") from error
    return files.limited(data, limit)
