"""What was computed before, kept by what it was computed from. To lose it, or any of it, changes no result.

A file of texts by key, sealed as a whole with a secret of the user's that lies outside of every tree: a contribution
that brings a cache along is not believed, and neither is a file that is torn or of other versions of the code.
"""

import hashlib
import hmac
import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from headroom import files, writing
from headroom.files import UnreadableError

_LARGEST = 1 << 28
_SECRET = 64  # characters
_LIBRARIES = ("numpy", "pydantic", "pydantic-core", "pyyaml")


class Cache:
    """Texts of one line by key. Without a file it holds nothing, and what is put into it is gone."""

    def __init__(self, path: Path | None = None, root: Path = Path(), seal: bytes = b"") -> None:
        self._path, self._root, self._seal = path, root, seal
        self._old: dict[bytes, bytes] = {}
        self._used: dict[bytes, bytes] = {}
        self._new = False

    @classmethod
    def open(cls, root: Path) -> "Cache":
        """The cache of a tree, below its folder ``.cache``; an empty one where there is none that can be believed."""
        folder = root / ".cache" / "check"
        secret = _secret()
        if secret is None or any(part.is_symlink() for part in (folder, folder.parent)):
            return cls()
        cache = cls(folder / "values", root, secret + _code())
        with suppress(UnreadableError):
            cache._read(files.read_bytes(folder / "values", root, limit=_LARGEST))
        return cache

    def get(self, *key: str) -> bytes | None:
        """The text that was put under this key."""
        name = ":".join(key).encode()
        found = self._used.get(name) or self._old.get(name)
        if found is not None:
            self._used[name] = found
        return found

    def put(self, text: bytes, *key: str) -> None:
        """Keep a text, which is one line, under this key, which has no tab."""
        if self._path is not None:
            self._used[":".join(key).encode()] = text
            self._new = True

    def save(self) -> None:
        """Write what was used, and as much again of what was not; where that cannot be done nothing is said."""
        if self._path is None or not self._new:
            return
        unused = [each for each in self._old.items() if each[0] not in self._used]
        kept = [*self._used.items(), *unused[: len(self._used)]]
        body = b"\n".join(b"\t".join(each) for each in kept)
        with suppress(OSError):
            writing.write_atomic(self._path, f"{self._sign(body)}\n{body.decode()}")

    def _read(self, data: bytes) -> None:
        signature, _, body = data.partition(b"\n")
        if hmac.compare_digest(signature, self._sign(body).encode()):
            self._old = dict(row.split(b"\t", 1) for row in body.split(b"\n"))

    def _sign(self, body: bytes) -> str:
        return hmac.new(self._seal, body, hashlib.sha256).hexdigest()


def _code() -> bytes:
    """A hash of all that a value may depend on besides its key: this package, and what it computes with."""
    package = Path(__file__).parent
    parts = [f"{path.relative_to(package)} {files.sha256(path.read_bytes())}" for path in sorted(package.rglob("*.py"))]
    return files.sha256("\n".join([sys.version, *parts, *_versions(_LIBRARIES)])).encode()


def _versions(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} unknown"


def _secret() -> bytes | None:
    """This user's secret, made when it is first asked for; None where it can be neither read nor kept."""
    try:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom" / "seal"
        if path.exists() and path.stat().st_size != _SECRET:  # a crash while it was written
            path.unlink()
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
                stream.write(secrets.token_hex(_SECRET // 2))
        found = path.read_bytes()
    except (OSError, RuntimeError):  # no home, say
        return None
    return found if len(found) == _SECRET else None
