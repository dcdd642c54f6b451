"""Writing so that nothing is ever half written, and nothing is lost."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY = ".headroom-tmp"
"""How the names of temporary files end. They begin with a dot, so that no loader, no rule and no page sees them."""
_ABANDONED = 3600  # seconds after which a temporary file has no writer any more


class UnwritableError(OSError):
    """A file that could not be written; says which, and why. What stood in its place stands there still."""

    def __init__(self, path: Path, reason: OSError | str) -> None:
        reason = reason if isinstance(reason, str) else reason.strerror or str(reason)
        super().__init__(f"{path} cannot be written ({reason})")


class ChangedError(UnwritableError):
    """A file that somebody else has written since it was read, and that is therefore left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "it was changed meanwhile, and is left so")


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
