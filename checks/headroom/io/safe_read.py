"""Read untrusted files safely: limited in size, plain text, and inside the tree even where symbolic links exist."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

MAX_TEXT_BYTES = 1 << 20
MAX_SCRIPT_BYTES = 1 << 17  # a syntax tree takes up to a thousand times the memory of its text
MAX_JSON_BYTES = 16 << 20
# Characters that hide text from a reviewer: control characters except tab and newline, invisible and reordering marks,
# other line endings, surrogates.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U0001d173-\U0001d17a"
    "\U000e0100-\U000e01ef]|(?<![\u203c-\u3299\U0001f000-\U0001faff])\ufe0f"  # blank letters, variation selectors
)
_OTHER = (
    "[\u0400-\u058f\u13a0-\u13ff\u2c80-\u2cff\ua640-\ua69f\u0391\u0392\u0395-\u0397\u0399\u039a"
    "\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7]"
)
_GREEK = "[\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u03c7]"
LOOKALIKE = re.compile(
    f"[A-Za-z]{_OTHER}|{_OTHER}[A-Za-z]|[A-Za-z]{_GREEK}[A-Za-z]|[A-Za-z]{{2}}{_GREEK}|{_GREEK}[A-Za-z]{{2}}"
    "|[\uff10-\uff5a\U0001d400-\U0001d7ff]"
)
"""A Latin letter next to one of another alphabet that looks the same, or a letter that only looks Latin."""
_CONFLICT = re.compile(r"^(?:<{7}|>{7})", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
_HIDDEN_BYTES = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_MARKS = ("<<<<<<<", ">>>>>>>")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a folder."""

    name: str
    """The path from the root of the tree, with forward slashes."""
    path: str
    plain: bool
    """Whether the file is already known to pass ``checked_path``."""

    @property
    def folder(self) -> str:
        """Return the path of its folder."""
        return self.name.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """Return its name without folders and suffix."""
        return Path(self.name).stem


class UnreadableError(ValueError):
    """A file that cannot be read as its type; has a message, a remedy and, where known, a line."""

    def __init__(self, message: str, remedy: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy, self.line = message, remedy, line


def below(folder: Path) -> Iterator[Path]:
    """Return every path below a folder except folders, sorted: files, symbolic links (not followed), and others."""
    return (path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir())


def checked_path(path: Path, root: Path) -> Path:
    """Return the normalized path of a regular file inside ``root``.

    Raises:
        UnreadableError: the path leaves the root, goes through a symbolic link, has an unsupported name, or is no file.
    """
    place, top = (Path(os.path.normpath(each.absolute())) for each in (path, root))
    if not place.is_relative_to(top):
        raise UnreadableError("the path leads out of the tree", "move the file into its folder")
    name = place.relative_to(top)
    try:
        linked = any(part.is_symlink() for part in (place, *place.parents[: len(name.parts) - 1]))
        mode = place.stat().st_mode if not linked else 0
    except OSError as error:
        raise UnreadableError("no such file", "add it, or correct the name") from error
    if linked:
        raise UnreadableError("a symbolic link, or a path through one", "replace the link with the file itself")
    if stat.S_ISDIR(mode):
        raise UnreadableError("a folder, not a file", "name a file")
    if not stat.S_ISREG(mode):
        raise UnreadableError("neither a file nor a folder", "remove it")
    if not _NAME.fullmatch(name.as_posix()):
        raise UnreadableError("an unsupported file name", "use only a-z, A-Z, digits, dots, dashes and underscores")
    return place


def walk(root: Path, folder: str) -> Iterator[Found]:
    """Yield the files below a folder as ``below``, without hidden folders, and with fewer system calls per file."""
    parts = folder.split("/")
    tops = [root.joinpath(*parts[: i + 1]) for i in range(len(parts))]
    yield from _walk(str(root / folder), folder, plain=not any(top.is_symlink() for top in tops))


def _walk(path: str, name: str, *, plain: bool) -> Iterator[Found]:
    waiting = _entries(path, name)
    while waiting:
        entry, within = waiting.pop()
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith((".", "__pycache__")):
                waiting += _entries(entry.path, within)
        else:
            regular = entry.is_file(follow_symlinks=False) and _NAME.fullmatch(within)
            yield Found(within, entry.path, plain=plain and bool(regular))


def _entries(path: str, name: str) -> "list[tuple[os.DirEntry[str], str]]":
    """Return a folder's entries in reverse order, each with its path from the root."""
    try:
        with os.scandir(path) as found:
            return [(entry, f"{name}/{entry.name}") for entry in sorted(found, key=_name, reverse=True)]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


_name = attrgetter("name")


def read_bytes(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return the bytes of a regular file inside ``root``.

    Raises:
        UnreadableError: as ``checked_path``, or the file is larger than ``limit`` bytes, or the system cannot read it.
    """
    return read_found(Found("", str(checked_path(path, root)), plain=True), root, limit=limit)


def read_found(found: Found, root: Path, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return the bytes of a file that ``walk`` has found; raise as ``read_bytes``."""
    if not found.plain:
        return read_bytes(Path(found.path), root, limit=limit)
    try:
        data = _read(found.path, limit + 1)
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})", "correct its permissions") from error
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit} bytes", "split the file, or remove what does not belong in it")
    return data


def _read(path: str, most: int) -> bytes:
    """Return at most ``most`` bytes of a file, with few system calls, since there are thousands of files."""
    handle = os.open(path, os.O_RDONLY)
    try:
        parts: list[bytes] = []
        size = min(most, os.fstat(handle).st_size + 1)
        while size > 0 and (part := os.read(handle, size)):
            parts.append(part)
            most -= len(part)
            size = 0 if len(part) < size else min(most, os.fstat(handle).st_size + 1)  # the end, or the file has grown
        return b"".join(parts)
    finally:
        os.close(handle)


def read_text(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a UTF-8 file inside ``root``, with lines ended by a newline.

    Raises:
        UnreadableError: as ``read_bytes``, or the file is not UTF-8, or contains a byte order mark, an invisible
            character, a letter that only looks Latin, or an unresolved merge conflict.
    """
    return text_of(read_bytes(path, root, limit=limit))


def text_of(data: bytes) -> str:
    """Return the text of a file's bytes, as ``read_text``.

    Raises:
        UnreadableError: as ``read_text``.
    """
    try:
        text = newlines(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"not UTF-8 (byte {error.start})", "save the file as UTF-8", line) from error
    if text.startswith("\ufeff") or "\0" in text:
        raise UnreadableError("a byte order mark or a null byte", "save the file as plain UTF-8", 1)
    plain = data.isascii() and len(data.translate(None, _HIDDEN_BYTES)) == len(data) and "\r" not in text
    if not plain and (hidden := HIDDEN.search(text)):  # a slow search, so only if it can find something
        message = f"an invisible character, U+{ord(hidden[0]):04X}"
        raise UnreadableError(message, "remove it", line_of(text, hidden.start()))
    if not plain and (alike := LOOKALIKE.search(text)):
        message = f"a letter that looks Latin but is not, in `{alike[0]}`"
        raise UnreadableError(message, "write the word in one alphabet", line_of(text, alike.start()))
    if any(mark in text for mark in _MARKS) and (conflict := _CONFLICT.search(text)):
        raise UnreadableError("an unresolved merge conflict", "resolve it", line_of(text, conflict.start()))
    return text


def line_of(text: str, position: int) -> int:
    """Return the line, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1


def newlines(text: str) -> str:
    """Return a text with Windows line endings replaced by newlines."""
    return text.replace("\r\n", "\n") if "\r" in text else text


def sha256(data: bytes | str) -> str:
    """Return the SHA-256 of bytes, or of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
