"""Write and read a pack: one uncompressed tar of record files, the same bytes for the same files, safe to read."""

import io
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

from headroom.io.safe_read import MAX_JSON_BYTES

MANIFEST = "manifest.json"
MAX_PACK_BYTES = 64 << 20
MAX_FILES = 1000
_NAME = re.compile(r"checks/(evidence|machines|memory-errors|runs)(/[A-Za-z0-9_-]+)+\.json")


class PackError(ValueError):
    """A file that is no valid pack; the message gives the reason."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the tar of these files: sorted, without times, owners or permissions, in the ustar format."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def unpack(path: Path) -> dict[str, bytes]:
    """Return the files of a pack; nothing is written.

    Raises:
        PackError: the file is too large, is no tar, holds a file that no pack has, or has other bytes than ``pack``
            writes for its files.
    """
    data = _read(path)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            files = _files(archive)
        same = pack(files) == data
    except PackError:
        raise
    except (tarfile.TarError, ValueError, OSError, OverflowError, RecursionError) as error:
        raise PackError(f"it is not a tar that can be read ({error})") from error
    if not same:
        raise PackError("it has bytes that `headroom measure --pack` does not write")
    return files


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_PACK_BYTES + 1)
    except OSError as error:
        raise PackError(f"it cannot be read ({error.strerror})") from error
    if len(data) > MAX_PACK_BYTES:
        raise PackError(f"it is larger than {MAX_PACK_BYTES} bytes")
    return data


def _files(archive: tarfile.TarFile) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in archive:
        if fault := _fault(entry, files):
            raise PackError(f"{entry.name!a}: {fault}")
        content = archive.extractfile(entry)
        files[entry.name] = content.read() if content else b""
    return files


def _fault(entry: tarfile.TarInfo, before: Mapping[str, bytes]) -> str:
    """Return why an entry of the tar is refused, or an empty string."""
    if entry.type != tarfile.REGTYPE or entry.sparse is not None:
        return "it is a link or a special file"
    if entry.name != MANIFEST and not _NAME.fullmatch(entry.name):
        return "no record has this path"
    if entry.name in before:
        return "the pack has two files of this name"
    if entry.size > MAX_JSON_BYTES:
        return f"it is larger than {MAX_JSON_BYTES} bytes"
    return f"the pack has more than {MAX_FILES} files" if len(before) > MAX_FILES else ""
