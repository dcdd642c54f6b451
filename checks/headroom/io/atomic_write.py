"""Write files atomically: a crash leaves either the old file or the new one, never a partial one."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY = ".headroom-tmp"
"""Suffix of temporary files. Their names start with a dot, so loaders, rules and pages ignore them."""
_ABANDONED_SECONDS = 3600  # age at which the writer of a temporary file must have ended


class UnwritableError(OSError):
    """A file could not be written, for the given reason; its old content is unchanged."""

    def __init__(self, path: Path, reason: OSError | str) -> None:
        reason = reason if isinstance(reason, str) else reason.strerror or str(reason)
        super().__init__(f"{path} cannot be written ({reason})")


class ChangedError(UnwritableError):
    """A file was changed by another program after it was read; it is left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "another program changed it in the meantime; it is left as it is")


def write_atomic(path: Path, text: str, *, over: bytes | None = None) -> None:
    """Write a whole file or nothing: a crash, a full disk or Ctrl-C leaves the old file as it was, with its mode.

    Replace a symbolic link instead of following it.

    Args:
        path: the file.
        text: its new content.
        over: the content that the text was made from; the file is replaced only if it still has this content.

    Raises:
        ChangedError: the file's content is not ``over``.
        UnwritableError: the disk is full, or the folder is not writable, for example.
    """
    with _temporary_file(path, text) as temporary:
        if over is not None and not _holds(path, over):
            raise ChangedError(path)
        temporary.replace(path)


def add(path: Path, text: str) -> None:
    """Write a new file, whole or not at all, and never replace an existing one.

    Raises:
        UnwritableError: as ``write_atomic``, or a file of this name has other content.
    """
    with _temporary_file(path, text) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            if not _holds(path, text.encode()):
                raise UnwritableError(path, "a file of this name exists with other content") from None


def probe(folder: Path) -> None:
    """Check that files can be written below a folder, which may not exist yet, and leave no file behind.

    Raises:
        UnwritableError: files cannot be written there.
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
def _temporary_file(path: Path, text: str) -> Iterator[Path]:
    """Yield a temporary file next to ``path`` with the text, synchronized to the disk; remove it afterwards."""
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
    """Return whether a file exists and has exactly this content."""
    try:
        return path.read_bytes() == data
    except FileNotFoundError:
        return False


def _mode(path: Path) -> int:
    """Return the permissions of a file, or those of a new file if it does not exist."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _sweep(temporary: Path) -> None:
    """Remove old temporary files from the folder, comparing times of its file system only."""
    now = temporary.stat().st_mtime
    for other in temporary.parent.glob(f".*{TEMPORARY}"):
        with suppress(OSError):
            if now - other.lstat().st_mtime > _ABANDONED_SECONDS:
                other.unlink()


def sync_folder(folder: Path) -> None:
    """Synchronize a folder's directory entries to the disk, if the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
