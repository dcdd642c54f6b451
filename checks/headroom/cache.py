"""What was computed before, kept by what it was computed from. To lose it, or any of it, changes no result.

A file of texts by key, sealed as a whole with a secret of the user's that lies outside of every tree: a contribution
that brings a cache along is not believed, and neither is a file that is torn or of other versions of the code.
"""

import hashlib
import hmac
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from headroom import files, writing
from headroom.files import UnreadableError

_LARGEST = 1 << 28
_RECENT = 0.25
"""How much may be new, as a share of the rest, before all is written again."""
_SECRET = 64  # characters
_LIBRARIES = ("numpy", "pydantic", "pydantic-core", "pyyaml")


class Cache:
    """Texts of one line by key. Without a folder it holds nothing, and what is put into it is gone.

    Most of them lie in the file ``values``. What is new since that was written lies in ``recent``, which is small.
    """

    def __init__(self, folder: Path | None = None, root: Path = Path(), seal: bytes = b"") -> None:
        self._folder, self._root, self._seal = folder, root, seal
        self._values = self._read("values")
        self._recent = self._read("recent")
        self._used: dict[bytes, bytes] = {}
        self._new = False

    @classmethod
    def open(cls, root: Path) -> "Cache":
        """The cache of a tree, below its folder ``.cache``; an empty one where there is none that can be believed."""
        folder = root / ".cache" / "check"
        secret = _secret()
        if secret is None or any(part.is_symlink() for part in (folder, folder.parent)):
            return cls()
        return cls(folder, root, secret + _code())

    @property
    def lasts(self) -> bool:
        """Whether what is put into it is kept."""
        return self._folder is not None

    @property
    def holds(self) -> bool:
        """Whether there was anything in it when it was opened."""
        return bool(self._values or self._recent)

    def get(self, *key: str) -> bytes | None:
        """The text that was put under this key."""
        name = ":".join(key).encode()
        found = self._used.get(name) or self._recent.get(name) or self._values.get(name)
        if found is not None:
            self._used[name] = found
        return found

    def put(self, text: bytes, *key: str) -> None:
        """Keep a text, which is one line, under this key, which has no tab."""
        if self._folder is not None:
            self._used[":".join(key).encode()] = text
            self._new = True

    def save(self) -> None:
        """Write what is new, or all that was used and as much again of what was not. A failure is passed over."""
        if not self._new:
            return
        recent = {key: text for key, text in self._used.items() if key not in self._values}
        if len(recent) <= _RECENT * len(self._values):
            self._write("recent", recent)
            return
        unused = [each for each in {**self._recent, **self._values}.items() if each[0] not in self._used]
        self._write("values", self._used | dict(unused[: len(self._used)]))
        self._write("recent", {})

    def _read(self, name: str) -> Mapping[bytes, bytes]:
        """The texts of a file; none where it does not bear this user's seal."""
        if self._folder is None:
            return {}
        try:
            data = files.read_bytes(self._folder / name, self._root, limit=_LARGEST)
        except UnreadableError:
            return {}
        start = data.find(b"\n") + 1
        body = memoryview(data)[start:]
        if not start or not body or not hmac.compare_digest(data[: start - 1], self._sign(body)):
            return {}
        return _Rows(data, start)

    def _write(self, name: str, texts: Mapping[bytes, bytes]) -> None:
        body = b"\n".join(b"\t".join(each) for each in texts.items())
        if self._folder is not None:
            with suppress(OSError):
                writing.write_atomic(self._folder / name, f"{self._sign(body).decode()}\n{body.decode()}")

    def _sign(self, body: bytes | memoryview) -> bytes:
        return hmac.new(self._seal, body, hashlib.sha256).hexdigest().encode()


class _Rows(Mapping[bytes, bytes]):
    """The texts of a file by key, each cut out when somebody asks for it: to copy all of a large one takes long."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._places: dict[bytes, tuple[int, int]] = {}
        while start < len(data):
            tab = data.index(b"\t", start)
            end = data.find(b"\n", tab)
            end = end if end >= 0 else len(data)
            self._places[data[start:tab]] = (tab + 1, end)
            start = end + 1

    def __getitem__(self, key: bytes) -> bytes:
        start, end = self._places[key]
        return self._data[start:end]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _code() -> bytes:
    """A hash of all that a value may depend on besides its key: this package, and what it computes with."""
    package = Path(__file__).parent
    paths = sorted([*package.rglob("*.py"), *package.rglob("*.txt")])
    parts = [f"{path.relative_to(package)} {files.sha256(path.read_bytes())}" for path in paths]
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
