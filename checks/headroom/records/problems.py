"""Problems of a tree: each has a place, a rule, a message and a remedy, and prints as one line."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headroom.io.safe_read import UnreadableError
from headroom.io.strict_load import Document

_LONGEST = 1000  # characters of a message or a remedy, which may quote a hostile file
_MOST = 20  # problems reported per record
_FORM = "Input should be "


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A violation of one rule: where it is, what is wrong and what to do."""

    path: str
    """The file, relative to the root of the tree, with forward slashes."""
    line: int | None
    """The line, from 1, or None for JSON, where ``field`` names the place."""
    rule: str
    """The violated rule, as ``headroom check --only`` names it."""
    field: str
    """The field, as a dotted path (YAML) or a JSON pointer, or empty."""
    message: str
    remedy: str

    def __str__(self) -> str:
        """Return ``path:line: rule: field: what is wrong; what to do``, on one line."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        named = f"`{self.field}`: " if self.field else ""
        message = f"{named}{self.message}"[:_LONGEST]
        text = " ".join(f"{message}; {self.remedy[:_LONGEST]}".split())
        return f"{_printable(place)}: {self.rule}: {_printable(text)}"


def _printable(text: str) -> str:
    """Return a text with each unprintable character replaced by its escape."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def unreadable(path: str, rule: str, error: UnreadableError) -> Problem:
    """Return the problem of a file that cannot be read."""
    return Problem(path, error.line, rule, "", error.message, error.remedy)


_REMEDIES = {
    "missing": "add it",
    "extra_forbidden": "remove it, or correct its spelling",
    "literal_error": "use one of these values",
    "string_pattern_mismatch": "write a text that matches this pattern",
    "union_tag_invalid": "use one of these values",
    "union_tag_not_found": "add it",
}
_DEFAULT_REMEDY = "correct the value; docs/contribute/records.md describes the field"


def invalid(
    path: str, rule: str, error: ValidationError, document: Document, *, pointer: bool = False
) -> list[Problem]:
    """Return the problems of a record that does not match its schema, each at its line or JSON pointer."""
    details = error.errors(include_url=False, include_input=False)
    inner = {detail["loc"][:-1] for detail in details}  # an invalid item makes its list too short: report the item
    reported = [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in inner]
    found = _merged(_invalid(path, rule, detail, document, pointer=pointer) for detail in reported[:_MOST])
    if len(reported) > _MOST:
        remedy = f"fix the first {_MOST} problems of this file, then check again"
        found.append(Problem(path, None, rule, "", f"more problems: {len(reported) - _MOST}", remedy))
    return found


def _merged(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems, with the alternatives for one value of a union merged into one problem."""
    found: list[Problem] = []
    for problem in problems:
        last = found[-1] if found else None
        same = last and (last.line, last.field) == (problem.line, problem.field)
        if last and same and last.message.startswith(_FORM) and problem.message.startswith(_FORM):
            found[-1] = replace(last, message=f"{last.message}, or {problem.message.removeprefix(_FORM)}")
        else:
            found.append(problem)
    return found


def _invalid(path: str, rule: str, detail: Any, document: Document, *, pointer: bool) -> Problem:
    location = _inside(document.value, detail["loc"], missing=detail["type"] == "missing")
    field = "/" + "/".join(map(str, location)) if pointer else ".".join(map(str, location))
    message = str(detail["msg"]).removeprefix("Value error, ")
    message, _, remedy = message.partition("; ")
    if detail["type"] == "extra_forbidden":
        message = "unknown key"
    elif detail["type"] == "missing":
        message = "missing"
    elif detail["type"] == "union_tag_not_found":
        message = f"the key `{detail['ctx']['discriminator'].strip(chr(39))}` is missing"
    remedy = remedy or _REMEDIES.get(detail["type"], _DEFAULT_REMEDY)
    return Problem(path, None if pointer else document.line(location) or 1, rule, field, message, remedy)


def _inside(value: Any, location: Iterable[str | int], *, missing: bool) -> tuple[str | int, ...]:
    """Return a location without the names of union members, which the validator adds but the file does not contain.

    The last step is kept if it names a missing key.
    """
    found: list[str | int] = []
    steps = list(location)
    for i, step in enumerate(steps):
        inside = (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        )
        if inside:
            value = value[step]
        if inside or (missing and i == len(steps) - 1):
            found.append(step)
    return tuple(found)


def relative(path: Path, root: Path) -> str:
    """Return a path relative to the root of the tree, with forward slashes."""
    return path.relative_to(root).as_posix()
