"""Reads the files of a tree one by one, and collects what is wrong with them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from headroom.io import safe_read
from headroom.io.safe_read import Found, UnreadableError, text_of
from headroom.io.strict_load import Document, Location, limit_values, load_json, load_yaml, plain_json
from headroom.io.todo_markers import MARK, REMEDY, gaps
from headroom.records.problems import Problem, invalid, unreadable

T = TypeVar("T")
_GAP = MARK.encode()


class Reader:
    """Reads files of one tree and collects what is wrong with them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.documents: dict[str, Document] = {}
        """The YAML files that were read, by path."""

    def complain(self, path: str, rule: str, message: str, remedy: str, line: int | None = 1) -> None:
        """Note a problem."""
        self.problems.append(Problem(path, line, rule, "", message, remedy))

    def each(self, folder: str, suffix: str, rule: str) -> Iterator[Found]:
        """The files of a folder in order; a file of another kind there is a problem."""
        for file in safe_read.walk(self.root, folder):
            last = file.name.rpartition("/")[2]
            if last.startswith("."):
                if last.endswith(suffix) and not last.startswith(".#"):  # as an editor marks what it has open
                    self.complain(file.name, rule, "a hidden file", "take the dot from its name, or delete it", None)
                continue
            try:
                if not file.plain:
                    safe_read.checked_path(Path(file.path), self.root)
            except UnreadableError as error:
                self.problems.append(unreadable(file.name, rule, error))
                continue
            if file.name.endswith(suffix):
                yield file
            else:
                self.complain(file.name, rule, f"not a {suffix} file", f"only {suffix} files belong in {folder}/", None)

    def data(self, file: Found, rule: str, limit: int = safe_read.MAX_TEXT_BYTES) -> bytes | None:
        """The bytes of one file, or None and the problem that it has."""
        try:
            data = safe_read.read_found(file, self.root, limit=limit)
        except UnreadableError as error:
            self.problems.append(unreadable(file.name, rule, error))
            return None
        if not file.name.endswith(".json") and _GAP in data:  # no author writes those
            for line, message in gaps(data.decode(errors="replace")):
                self.complain(file.name, "gaps", message, REMEDY, line)
        return data

    def text(self, file: Found, rule: str, limit: int = safe_read.MAX_TEXT_BYTES) -> str | None:
        """The text of one file, or None and the problem that it has."""
        data = self.data(file, rule, limit)
        return None if data is None else self.decoded(file, rule, data)

    def decoded(self, file: Found, rule: str, data: bytes) -> str | None:
        """The text of a file's bytes, or None and the problem that it has."""
        try:
            return text_of(data)
        except UnreadableError as error:
            self.problems.append(unreadable(file.name, rule, error))
            return None

    def yaml(self, file: Found, rule: str, validate: Callable[..., T]) -> T | None:
        """One YAML file as a validated record, or None and the problems that it has.

        Args:
            file: the file.
            rule: the rule that its problems break.
            validate: a validator of JSON, called so strictly that neither "20" nor true is a number.
        """
        data = self.data(file, rule)
        if data is None:
            return None
        try:
            document = self.documents[file.name] = load_yaml(text_of(data))
            return validate(json.dumps(document.value), strict=True)
        except UnreadableError as error:
            self.problems.append(unreadable(file.name, rule, error))
        except ValidationError as error:
            self.problems += invalid(file.name, rule, error, self.documents[file.name])
        return None

    def json(
        self, file: Found, data: bytes, rule: str, validate: Callable[..., T], keys: Callable[[T], int] | None = None
    ) -> tuple[T, str] | None:
        """The bytes of one JSON file as a validated record and their text, or None and the problems that it has.

        Args:
            file: the file.
            data: its bytes.
            rule: the rule that its problems break.
            validate: a validator of JSON, as for ``yaml``.
            keys: how many keys a record has. With that, a plain text need not be parsed a second time, strictly.
        """
        # Whatever else `decoded` refuses in such a text, JSON refuses as well, so that it need not be looked for.
        plain = data.isascii() and not any(mark in data for mark in (b"\x7f", b"\r"))
        text = data.decode() if plain else self.decoded(file, rule, data)
        if text is None:
            return None
        try:
            limit_values(text)
            record = validate(text, strict=True)
            if keys is None or not plain_json(text, keys(record)):
                load_json(text)
        except (ValidationError, UnreadableError) as error:
            if not plain or self.decoded(file, rule, data) is not None:
                self._refuse(file, rule, text, error)
        else:
            return record, text
        return None

    def _refuse(self, file: Found, rule: str, text: str, error: ValidationError | UnreadableError) -> None:
        """Say what is wrong with a JSON file; that it is no strict JSON comes first."""
        if isinstance(error, UnreadableError):
            self.problems.append(unreadable(file.name, rule, error))
            return
        try:
            self.problems += invalid(file.name, rule, error, load_json(text), pointer=True)
        except UnreadableError as unparsed:
            self.problems.append(unreadable(file.name, rule, unparsed))

    def line(self, file: Found, location: Location) -> int | None:
        """The line of a YAML file's value."""
        return self.documents[file.name].line(location)
