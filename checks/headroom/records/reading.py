"""Reads the files of a tree one by one, and collects what is wrong with them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from headroom import files
from headroom.files import UnreadableError
from headroom.parsing import Document, load_json, load_yaml
from headroom.records.problems import Problem, invalid, relative, unreadable

T = TypeVar("T")


class Reader:
    """Reads files of one tree and collects what is wrong with them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.documents: dict[str, Document] = {}

    def complain(self, path: str, rule: str, message: str, remedy: str, line: int | None = 1) -> None:
        """Note a problem."""
        self.problems.append(Problem(path, line, rule, "", message, remedy))

    def each(self, folder: str, suffix: str, rule: str) -> Iterator[tuple[Path, str]]:
        """The files of a folder in order; a file of another kind there is a problem."""
        for path in files.below(self.root / folder):
            name = relative(path, self.root)
            *folders, last = path.relative_to(self.root).parts
            if any(part.startswith((".", "__pycache__")) for part in folders) or last.startswith(".#"):
                continue
            if last.startswith("."):
                if path.suffix == suffix:
                    self.complain(name, rule, "a hidden file", "take the dot from its name, or delete it", None)
                continue
            try:
                files.placed(path, self.root)
            except UnreadableError as error:
                self.problems.append(unreadable(name, rule, error))
                continue
            if path.suffix != suffix:
                self.complain(name, rule, f"not a {suffix} file", f"only {suffix} files belong in {folder}/", None)
            else:
                yield path, name

    def text(self, path: Path, name: str, rule: str, limit: int = files.MAX_TEXT_BYTES) -> str | None:
        """The text of one file, or None and the problem that it has."""
        try:
            return files.read_text(path, self.root, limit=limit)
        except UnreadableError as error:
            self.problems.append(unreadable(name, rule, error))
        return None

    def record(self, path: Path, name: str, rule: str, validate: Callable[..., T]) -> tuple[T, Document, str] | None:
        """One file as a validated record, or None and the problems that it has.

        Args:
            path: the file.
            name: its path as problems name it.
            rule: the rule that its problems break.
            validate: a validator of JSON, called so strictly that neither "20" nor true is a number.
        """
        is_json = path.suffix == ".json"
        text = self.text(path, name, rule, files.MAX_JSON_BYTES if is_json else files.MAX_TEXT_BYTES)
        if text is None:
            return None
        try:
            document = load_json(text) if is_json else load_yaml(text)
        except UnreadableError as error:
            self.problems.append(unreadable(name, rule, error))
            return None
        self.documents[name] = document
        try:
            return validate(text if is_json else json.dumps(document.value), strict=True), document, text
        except ValidationError as error:
            self.problems += invalid(name, rule, error, document, pointer=is_json)
            return None
