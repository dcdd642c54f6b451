"""Reading what strangers wrote, and writing so that nothing is ever half written.

Sizes are capped, and no path leaves the folder that it belongs to, also not through a link.
"""

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_TEXT_BYTES = 1 << 20
MAX_SCRIPT_BYTES = 1 << 17  # a syntax tree takes up to a thousand times the room of its text
MAX_JSON_BYTES = 16 << 20
TEMPORARY = ".headroom-tmp"
"""How the names of temporary files end. They begin with a dot, so that no loader, no rule and no page sees them."""
_ABANDONED = 3600  # seconds after which a temporary file has no writer any more

# What hides from its reviewer what a text says: control characters but tab and newline, marks that reorder or cannot be
# seen, other ends of lines, halves of characters.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONFLICT = re.compile(r"^(?:<{7}|>{7})", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9._/-]+")
"""What a path of a tree is written with."""
_HIDDEN_BYTES = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_MARKS = ("<<<<<<<", ">>>>>>>")


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
    if not NAME.fullmatch(name.as_posix()):
        raise UnreadableError("an odd name", "name it with unaccented letters, digits, dots, dashes and underscores")
    return place


class UnwritableError(OSError):
    """A file that could not be written; says which, and why. What stood in its place stands there still."""

    def __init__(self, path: Path, reason: OSError | str) -> None:
        reason = reason if isinstance(reason, str) else reason.strerror or str(reason)
        super().__init__(f"{path} cannot be written ({reason})")


class ChangedError(UnwritableError):
    """A file that somebody else has written since it was read, and that is therefore left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "it was changed meanwhile, and is left so")


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
    return limited(data, limit)


def limited(data: bytes, limit: int) -> bytes:
    """Bytes that are no more than the limit.

    Raises:
        UnreadableError: they are more.
    """
    if len(data) > limit:
        raise UnreadableError(f"larger than {limit} bytes", "split the file, or remove what does not belong in it")
    return data


def read_text(path: Path, root: Path, *, limit: int = MAX_TEXT_BYTES) -> str:
    """The text of a UTF-8 file inside ``root``, lines ended by a newline.

    Raises:
        UnreadableError: as ``read_bytes``, or the bytes are no UTF-8, or hold a byte order mark, a character that hides
            something, or the marks of an unfinished merge.
    """
    return text_of(read_bytes(path, root, limit=limit))


def text_of(data: bytes) -> str:
    """The text of a file's bytes, as ``read_text`` reads it.

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
    if not plain and (hidden := HIDDEN.search(text)):  # which takes long where every character is looked at
        message = f"a character that is not seen, U+{ord(hidden[0]):04X}"
        raise UnreadableError(message, "remove it", line_of(text, hidden.start()))
    if any(mark in text for mark in _MARKS) and (conflict := _CONFLICT.search(text)):
        raise UnreadableError("a merge that is not finished", "choose one side", line_of(text, conflict.start()))
    return text


def line_of(text: str, position: int) -> int:
    """The line, from 1, on which a character of a text stands."""
    return text.count("\n", 0, position) + 1


def newlines(text: str) -> str:
    """A text with its lines ended by a newline, whichever system ended them."""
    return text.replace("\r\n", "\n")


def write_atomic(path: Path, text: str, *, over: bytes | None = None) -> None:
    """Write a whole file or nothing: a crash, a full disk or Ctrl-C leaves the old file as it was, with its mode.

    A link is replaced, and not followed.

    Args:
        path: the file.
        text: what it is to hold.
        over: what the file must still hold when it is replaced, where the text was made from that.

    Raises:
        ChangedError: it holds something else.
        UnwritableError: the disk is full or the folder cannot be written, say.
    """
    with _beside(path, text) as temporary:
        if over is not None and not _holds(path, over):
            raise ChangedError(path)
        temporary.replace(path)


def add(path: Path, text: str) -> None:
    """Write a new file, whole or not at all. A file that is there already is never replaced.

    Raises:
        UnwritableError: as ``write_atomic``, or a file of this name holds something else.
    """
    with _beside(path, text) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            if not _holds(path, text.encode()):
                raise UnwritableError(path, "a file of this name is there, and holds something else") from None


def probe(folder: Path) -> None:
    """Find out whether files can be written below a folder, which need not be there yet; nothing is left behind.

    Raises:
        UnwritableError: they cannot.
    """
    try:
        while not folder.exists():
            folder = folder.parent
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(4096))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise UnwritableError(folder, error) from error


@contextmanager
def _beside(path: Path, text: str) -> Iterator[Path]:
    """A temporary file in the folder of ``path`` that holds the text, safely on the disk; it is gone afterwards."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=TEMPORARY)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_mode(path))
        _sweep(temporary)
        yield temporary
        sync_folder(path.parent)
    except UnwritableError:
        raise
    except OSError as error:
        raise UnwritableError(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file is there and holds exactly this."""
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False


def _mode(path: Path) -> int:
    """The permissions of a file, or those that a new one has."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sweep(temporary: Path) -> None:
    """Remove what killed writers have left in the same folder, by the clock of its file system."""
    now = temporary.stat().st_mtime
    for other in temporary.parent.glob(f".*{TEMPORARY}"):
        with suppress(OSError):
            if now - other.lstat().st_mtime > _ABANDONED:
                other.unlink()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder outlive a power cut, where the system lets anybody ask for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sha256(data: bytes | str) -> str:
    """The SHA-256 of bytes, or of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
