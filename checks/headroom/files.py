"""Reading what strangers wrote, and writing so that nothing is ever half written.

Sizes are capped, and no path leaves the folder that it belongs to, also not through a link.
"""

import ast
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_TEXT_BYTES = 1 << 20
MAX_JSON_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a folder."""

    name: str
    """Its path from the root of the tree, with forward slashes."""
    path: str
    plain: bool
    """Whether it is a regular file in real folders: no link can then lead out of the tree."""

    @property
    def stem(self) -> str:
        """Its name without folders and ending."""
        return Path(self.name).stem


class UnreadableError(ValueError):
    """A file that cannot be taken as what it claims to be; says where and what to do."""

    def __init__(self, message: str, remedy: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy, self.line = message, remedy, line


def walk(root: Path, folder: str) -> Iterator[Found]:
    """Every file below a folder of a tree, in order. What is hidden, or behind a link to a folder, is left out."""
    top = root / folder
    yield from _walk(str(top), folder, plain=top.resolve() == root.resolve() / folder)


def _walk(path: str, name: str, *, plain: bool) -> Iterator[Found]:
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        below = f"{name}/{entry.name}"
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, below, plain=plain)
        elif entry.is_file(follow_symlinks=False):
            yield Found(below, entry.path, plain)
        elif not Path(entry.path).is_dir():
            yield Found(below, entry.path, plain=False)


def read_found(found: Found, root: Path, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """As ``read_bytes``, without asking where the path leads when that is known."""
    if not found.plain:
        return read_bytes(Path(found.path), root, limit=limit)
    with open(found.path, "rb", buffering=0) as handle:  # noqa: PTH123 - a Path costs more than to open the file
        data = handle.readall() if os.fstat(handle.fileno()).st_size <= limit else None
    if data is None or len(data) > limit:
        raise _too_large(limit)
    return data


def read_bytes(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a regular file inside ``root``.

    Raises:
        UnreadableError: the path leaves the root (also through a link), is no file, or is larger than ``limit``.
    """
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except RuntimeError:  # a link to itself, until Python 3.13
        inside = False
    if not inside:
        raise UnreadableError("the path leads out of the tree", "keep the file inside its folder, not behind a link")
    if not path.is_file():
        raise UnreadableError("no such file", "add it, or correct the name")
    with path.open("rb") as handle:
        data = handle.read(limit + 1)
    if len(data) > limit:
        raise _too_large(limit)
    return data


def _too_large(limit: int) -> UnreadableError:
    return UnreadableError(f"larger than {limit} bytes", "split the file, or remove what does not belong in it")


def read_text(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> str:
    """The text of a UTF-8 file inside ``root``, lines ended by a newline.

    Raises:
        UnreadableError: as ``read_bytes``, or the bytes are no UTF-8, or hold a byte order mark or a null byte.
    """
    return text_of(read_bytes(path, root, limit=limit))


def text_of(data: bytes) -> str:
    """The text of a UTF-8 file's bytes, lines ended by a newline.

    Raises:
        UnreadableError: they are no UTF-8, or hold a byte order mark or a null byte.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"not UTF-8 (byte {error.start})", "save the file as UTF-8") from error
    if text.startswith("\ufeff") or "\0" in text:
        raise UnreadableError("a byte order mark or a null byte", "save the file as plain UTF-8", 1)
    return text.replace("\r\n", "\n") if "\r" in text else text


def write_atomic(path: Path, text: str) -> None:
    """Write a whole file or nothing: a crash, a full disk or Ctrl-C leaves the old file as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sha256(data: bytes | str) -> str:
    """The SHA-256 of bytes, or of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def syntax_sha256(source: str) -> str:
    """A hash of a Python script's meaning: comments, formatting and docstrings do not count.

    Empty fields are left out of the tree, so that a newer Python that adds a field gives the same hash.

    Raises:
        SyntaxError: the source is no Python.
    """
    return sha256("\n".join(_syntax(ast.parse(source))))


def _syntax(node: Any) -> Iterator[str]:
    """The tree as a sequence of words: the types of its nodes and their fields that are not empty."""
    if isinstance(node, ast.AST):
        yield type(node).__name__
        for name, child in ast.iter_fields(node):
            if child is None or child == [] or name in ("kind", "type_comment"):
                continue
            yield name
            yield from _syntax(child)
        yield "."
    elif isinstance(node, list):
        for child in node:
            if not _is_docstring(child):
                yield from _syntax(child)
    else:
        yield repr(node)


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
