"""Reading what strangers wrote, and writing so that nothing is ever half written.

Sizes are capped, and no path leaves the folder that it belongs to, also not through a link.
"""

import ast
import hashlib
import os
import re
import stat
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_TEXT_BYTES = 1 << 20
MAX_JSON_BYTES = 16 << 20

# What hides from its reviewer what a text says: control characters but tab and newline, marks that reorder or cannot be
# seen, other ends of lines, halves of characters.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONFLICT = re.compile(r"^(?:<{7}|>{7})", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9._/-]+")
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*(?P<name>[-\w.]+)")  # as PEP 263 has it


class UnreadableError(ValueError):
    """A file that cannot be taken as what it claims to be; says where and what to do."""

    def __init__(self, message: str, remedy: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy, self.line = message, remedy, line


def below(folder: Path) -> Iterator[Path]:
    """Everything below a folder but folders, in order: files, links, which are not followed, and whatever else."""
    return (path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir())


def placed(path: Path, root: Path) -> Path:
    """The path of a regular file inside ``root``, without detours.

    Raises:
        UnreadableError: it leaves the root, is a link or lies behind one, has an odd name, or is no file.
    """
    place, top = (Path(os.path.normpath(each.absolute())) for each in (path, root))
    if not place.is_relative_to(top):
        raise UnreadableError("the path leads out of the tree", "keep the file inside its folder")
    name = place.relative_to(top)
    try:
        linked = any(part.is_symlink() for part in (place, *place.parents[: len(name.parts) - 1]))
        mode = place.stat().st_mode if not linked else 0
    except OSError as error:
        raise UnreadableError("no such file", "add it, or correct the name") from error
    if linked:
        raise UnreadableError("a link, or behind one", "put the file itself in its place")
    if stat.S_ISDIR(mode):
        raise UnreadableError("a folder, no such file", "name a file")
    if not stat.S_ISREG(mode):
        raise UnreadableError("neither a file nor a folder", "remove it")
    if not _NAME.fullmatch(name.as_posix()):
        raise UnreadableError("an odd name", "name it with unaccented letters, digits, dots, dashes and underscores")
    return place


def read_bytes(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a regular file inside ``root``.

    Raises:
        UnreadableError: as ``placed``, or it is larger than ``limit``, or the system refuses it.
    """
    try:
        with placed(path, root).open("rb") as handle:
            data = handle.read(limit + 1)
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})", "correct its permissions") from error
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit} bytes", "split the file, or remove what does not belong in it")
    return data


def read_text(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> str:
    """The text of a UTF-8 file inside ``root``, lines ended by a newline.

    Raises:
        UnreadableError: as ``read_bytes``, or the bytes are no UTF-8, or hold a byte order mark, a character that hides
            something, or the marks of an unfinished merge.
    """
    data = read_bytes(path, root, limit=limit)
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"not UTF-8 (byte {error.start})", "save the file as UTF-8", line) from error
    if text.startswith("\ufeff") or "\0" in text:
        raise UnreadableError("a byte order mark or a null byte", "save the file as plain UTF-8", 1)
    if hidden := HIDDEN.search(text):
        message = f"a character that is not seen, U+{ord(hidden[0]):04X}"
        raise UnreadableError(message, "remove it", line_of(text, hidden.start()))
    if conflict := _CONFLICT.search(text):
        raise UnreadableError("a merge that is not finished", "choose one side", line_of(text, conflict.start()))
    return text


def line_of(text: str, position: int) -> int:
    """The line, from 1, on which a character of a text stands."""
    return text.count("\n", 0, position) + 1


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


def parse_python(source: str) -> ast.Module:
    """The syntax tree of a script.

    Raises:
        UnreadableError: it is no Python, is nested too deeply, or would run in another encoding than it is read in.
    """
    for number, line in enumerate(source.split("\n", 2)[:2], 1):
        cookie = _COOKIE.match(line)
        if cookie and cookie["name"].lower().replace("_", "-") not in ("utf-8", "utf8"):
            raise UnreadableError(f"the encoding `{cookie['name']}`", "remove the line: scripts are UTF-8", number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes, say: the linter's concern
            return ast.parse(source)
    except SyntaxError as error:
        raise UnreadableError(f"no Python: {error.msg}", "correct the script", error.lineno) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableError("nested too deeply", "simplify the script", 1) from error


def syntax_sha256(source: str) -> str:
    """A hash of a Python script's meaning: comments, formatting and docstrings do not count.

    Empty fields are left out of the tree, so that a newer Python that adds a field gives the same hash.

    Raises:
        UnreadableError: as ``parse_python``.
    """
    try:
        return sha256("\n".join(_syntax(parse_python(source))))
    except RecursionError as error:
        raise UnreadableError("nested too deeply", "simplify the script", 1) from error


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
