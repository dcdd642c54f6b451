"""What is wrong with a tree: one problem, one line, always with a remedy."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from headroom.io.safe_read import UnreadableError
from headroom.io.strict_load import Document

_LONGEST = 1000  # characters of a message or a remedy: a line that quotes a hostile file has an end
_MOST = 20  # problems of one record
_FORM = "Input should be "


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that does not hold, where it stands and what to do about it."""

    path: str
    """The file, relative to the root of the tree, with forward slashes."""
    line: int | None
    """The line, from 1, or None where the file has no lines to speak of (JSON says the field instead)."""
    rule: str
    """The rule that it breaks, as ``headroom check --only`` names it."""
    field: str
    """The field, as a dotted path (YAML) or JSON pointer, or empty."""
    message: str
    remedy: str

    def __str__(self) -> str:
        """``path:line: rule: field: what is wrong; what to do``, on one line."""
        place = f"{self.path}:{self.line}" if self.line else self.path
        named = f"`{self.field}`: " if self.field else ""
        said = f"{named}{self.message}"[:_LONGEST]
        return f"{_shown(place)}: {self.rule}: {_shown(' '.join(f'{said}; {self.remedy[:_LONGEST]}'.split()))}"


def _shown(text: str) -> str:
    """A text as a terminal may show it: what cannot be printed is written as an escape."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def unreadable(path: str, rule: str, error: UnreadableError) -> Problem:
    """The problem of a file that cannot be read at all."""
    return Problem(path, error.line, rule, "", error.message, error.remedy)


_REMEDIES = {
    "missing": "add it",
    "extra_forbidden": "remove it, or correct its spelling",
    "literal_error": "use one of the words listed",
    "string_pattern_mismatch": "write it in the form given",
    "union_tag_invalid": "use one of the words listed",
    "union_tag_not_found": "add it",
}


def invalid(
    path: str, rule: str, error: ValidationError, document: Document, *, pointer: bool = False
) -> list[Problem]:
    """The problems of a record whose values are not what its schema wants, each at its line or JSON pointer."""
    details = error.errors(include_url=False, include_input=False)
    inner = {detail["loc"][:-1] for detail in details}  # a refused item makes its list too short: the item says why
    told = [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in inner]
    found = _merged(_invalid(path, rule, detail, document, pointer=pointer) for detail in told[:_MOST])
    if len(told) > _MOST:
        found.append(Problem(path, None, rule, "", f"{len(told) - _MOST} more problems", "mend those that are named"))
    return found


def _merged(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, those of one value that has none of the forms that it may have made one."""
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
    remedy = remedy or _REMEDIES.get(detail["type"], "see docs/contribute/records.md")
    return Problem(path, None if pointer else document.line(location) or 1, rule, field, message, remedy)


def _inside(value: Any, location: Iterable[str | int], *, missing: bool) -> tuple[str | int, ...]:
    """The location without the names of alternatives that the validator puts in but the file does not hold.

    Where a key is missing, the last step names it.
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
    """A path as problems name it."""
    return path.relative_to(root).as_posix()
