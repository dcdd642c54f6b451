"""Read and validate the files of a tree, and collect their problems."""

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
    """A reader of one tree's files that collects their problems."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.documents: dict[str, Document] = {}
        """The YAML files that were read, by path."""

    def report(self, path: str, rule: str, message: str, remedy: str, line: int | None = 1) -> None:
        """Add a problem."""
        self.problems.append(Problem(path, line, rule, "", message, remedy))

    def each(self, folder: str, suffix: str, rule: str) -> Iterator[Found]:
        """Yield the files of a folder in order; report each file that lacks the suffix."""
        for file in safe_read.walk(self.root, folder):
            last = file.name.rpartition("/")[2]
            if last.startswith("."):
                if last.endswith(suffix) and not last.startswith(".#"):  # Emacs's lock of an open file
                    self.report(file.name, rule, "a hidden file", "remove the dot from its name, or delete it", None)
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
                remedy = f"move or delete it: only {suffix} files belong in {folder}/"
                self.report(file.name, rule, f"not a {suffix} file", remedy, None)

    def data(self, file: Found, rule: str, limit: int = safe_read.MAX_TEXT_BYTES) -> bytes | None:
        """Return the bytes of a file, or None after reporting its problem."""
        try:
            data = safe_read.read_found(file, self.root, limit=limit)
        except UnreadableError as error:
            self.problems.append(unreadable(file.name, rule, error))
            return None
        if not file.name.endswith(".json") and _GAP in data:  # JSON files are generated
            for line, message in gaps(data.decode(errors="replace")):
                self.report(file.name, "gaps", message, REMEDY, line)
        return data

    def text(self, file: Found, rule: str, limit: int = safe_read.MAX_TEXT_BYTES) -> str | None:
        """Return the text of a file, or None after reporting its problem."""
        data = self.data(file, rule, limit)
        return None if data is None else self.decoded(file, rule, data)

    def decoded(self, file: Found, rule: str, data: bytes) -> str | None:
        """Return the text of a file's bytes, or None after reporting their problem."""
        try:
            return text_of(data)
        except UnreadableError as error:
            self.problems.append(unreadable(file.name, rule, error))
            return None

    def yaml(self, file: Found, rule: str, validate: Callable[..., T]) -> T | None:
        """Return a YAML file as a validated record, or None after reporting its problems.

        Args:
            file: the file.
            rule: the rule of the reported problems.
            validate: a JSON validator, called in strict mode: neither "20" nor true is a number.
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
        """Return a JSON file as a validated record with its text, or None after reporting its problems.

        Args:
            file: the file.
            data: its bytes.
            rule: the rule of the reported problems.
            validate: a JSON validator, as for ``yaml``.
            keys: counts the keys of a record. A matching count spares a second, strict parse that finds duplicates.
        """
        # In such a text, the JSON parser refuses everything else that `decoded` refuses.
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
        """Report the problems of a JSON file: syntax errors first, then schema errors."""
        if isinstance(error, UnreadableError):
            self.problems.append(unreadable(file.name, rule, error))
            return
        try:
            self.problems += invalid(file.name, rule, error, load_json(text), pointer=True)
        except UnreadableError as unparsed:
            self.problems.append(unreadable(file.name, rule, unparsed))

    def line(self, file: Found, location: Location) -> int | None:
        """Return the line of a value in a YAML file."""
        return self.documents[file.name].line(location)
