"""Load untrusted YAML and JSON strictly: no aliases, tags, duplicate keys, infinite numbers or deep nesting."""

import json
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from headroom.io.safe_read import UnreadableError

MAX_DEPTH = 32
MAX_VALUES = 100_000
_MAX_INTEGER = 2**63
# Map digits to `0` and characters that may precede a number to blanks, to find numbers that may exceed 64 bits.
_SHAPES = bytes.maketrans(b"123456789[:,-\t\r\n", b"000000000       ")
_LONG = b" " + b"0" * (len(str(_MAX_INTEGER)))

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file and the line of each of its values."""

    value: Any
    lines: Mapping[Location, int] = field(default_factory=dict)

    def line(self, location: Location) -> int | None:
        """Return the line of the value at a location, or of the nearest value that contains it."""
        while location not in self.lines and location:
            location = location[:-1]
        return self.lines.get(location)


_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$")
_VALUES = (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
_WORDS: dict[str, Any] = {"": None, "null": None, "~": None, "true": True, "false": False}


def _scalar(text: str, line: int) -> Any:
    """Parse a plain YAML scalar by the core schema: null, true, false, a finite number, or else a string."""
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.match(text):
        return text
    number: float = float(text) if any(c in text for c in ".eE") else _integer(text, line)
    if not math.isfinite(number):
        raise UnreadableError(f"`{text}` is not a finite number", "write a finite number", line)
    return number


def _integer(text: str, line: int | None = None) -> int:
    if len(text) > len(f"-{_MAX_INTEGER}") or abs(int(text)) > _MAX_INTEGER:
        raise UnreadableError("an integer beyond 64 bits", "write a smaller number", line)
    return int(text)


@dataclass(slots=True)
class _Container:
    """A list or mapping under construction; ``key`` is the mapping's key whose value comes next."""

    value: list[Any] | dict[Hashable, Any]
    location: Location
    key: str | None = None
    at: Location = ()
    """The location of that value."""


def _put(stack: list[_Container], value: Any, line: int, lines: dict[Location, int]) -> Location:
    """Put a value into the innermost container and return its location."""
    if not stack:
        return ()
    top = stack[-1]
    if isinstance(top.value, list):
        top.value.append(value)
        location = (*top.location, len(top.value) - 1)
    elif top.key is None:
        if not isinstance(value, str):
            raise UnreadableError("a key that is not a string", "write each key as a plain word", line)
        if not value.isprintable():
            raise UnreadableError("a key with a control character", "write each key as a plain word", line)
        if value in top.value:
            raise UnreadableError(f"the key `{value}` occurs twice", "remove one of the two", line)
        top.key, location = value, (*top.location, value)
        top.at = location
    else:
        top.value[top.key] = value
        top.key = None
        return top.at  # the value has the line of its key
    lines[location] = line
    return location


def texts(value: Any) -> Iterator[str]:
    """Yield every string of a parsed value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from texts(each)


def load_yaml(text: str) -> Document:
    """Parse one YAML document of mappings, lists and scalars, and record the line of each value.

    It reads the event stream without recursion, so neither nesting nor aliases can exhaust memory.

    Raises:
        UnreadableError: the text is not YAML, or has several documents, an alias, a tag, a duplicate key, deep nesting
            or an infinite number.
    """
    stack: list[_Container] = []
    lines: dict[Location, int] = {}
    results: list[Any] = []
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            _take(event, stack, lines, results)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a syntax error"
        line = mark.line + 1 if mark else None
        if "nesting depth" in problem:  # PyYAML's own limit, since 6.0.4
            raise UnreadableError(f"nested deeper than {MAX_DEPTH}", "flatten the document", line) from error
        raise UnreadableError(f"not valid YAML: {problem}", "fix the syntax", line) from error
    if len(results) != 1:
        raise UnreadableError("empty, or more than one document", "write one document per file", 1)
    return Document(results[0], lines)


def _take(event: Any, stack: list[_Container], lines: dict[Location, int], results: list[Any]) -> None:
    """Add one parser event to the document."""
    if len(lines) > MAX_VALUES:
        raise UnreadableError(f"more than {MAX_VALUES} values", "split the file", event.start_mark.line + 1)
    kind = type(event)
    if kind in _ENDS:
        done = stack.pop().value
        if not stack:
            results.append(done)
        return
    line = event.start_mark.line + 1
    if kind is yaml.AliasEvent or getattr(event, "anchor", None):
        raise UnreadableError("an anchor or alias", "write the value out", line)
    if kind not in _VALUES:
        return
    if event.tag:
        raise UnreadableError(f"the tag `{event.tag}`", "remove the tag", line)
    if kind is yaml.ScalarEvent:
        value = _scalar(event.value, line) if event.implicit[0] else event.value
        if stack and stack[-1].key is None and isinstance(stack[-1].value, dict):
            value = event.value  # a key is a string, even if it looks like a number
        _put(stack, value, line, lines)
        if not stack:
            results.append(value)
    else:
        if len(stack) >= MAX_DEPTH:
            raise UnreadableError(f"nested deeper than {MAX_DEPTH}", "flatten the document", line)
        container: list[Any] | dict[Hashable, Any] = {} if kind is yaml.MappingStartEvent else []
        stack.append(_Container(container, _put(stack, container, line, lines)))


def limit_values(text: str) -> None:
    """Refuse JSON of too many values before parsing it, since a validator stores an error for each wrong value.

    Raises:
        UnreadableError: there are more than ``MAX_VALUES``.
    """
    if len(text) > MAX_VALUES and text.count(",") > MAX_VALUES:
        raise UnreadableError(f"more than {MAX_VALUES} values", "split the file")


def load_json(text: str, *, finite: bool = True) -> Document:
    """Parse JSON without duplicate keys, NaN, infinity or deep nesting.

    Args:
        text: the JSON.
        finite: False accepts ``NaN`` and ``Infinity``, which Python's writer of JSON produces.

    Raises:
        UnreadableError: the text is not such JSON.
    """
    limit_values(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse if finite else float,
            parse_float=_finite if finite else float,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise UnreadableError(f"not valid JSON: {error.msg}", "fix the syntax", error.lineno) from error
    except RecursionError as error:
        raise UnreadableError("nested too deeply", "flatten the document") from error
    _limit_depth(value)
    return Document(value)


def plain_json(text: str, keys: int) -> bool:
    """Return whether ``load_json`` certainly accepts a short text that a validator of finite numbers has accepted.

    If the text has as many colons as the record has keys, no key occurs twice. If False, ``load_json`` must decide.
    """
    long = _LONG in text.encode().translate(_SHAPES)
    return text.count(":") == keys and not long


def _limit_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [each for each in level if isinstance(each, dict | list)]
        level = [child for each in level for child in (each.values() if isinstance(each, dict) else each)]
    if level:
        raise UnreadableError("nested too deeply", "flatten the document")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        double = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise UnreadableError(f"the key `{double}` occurs twice", "remove one of the two")
    return result


def _refuse(constant: str) -> None:
    raise UnreadableError(f"`{constant}` is not a finite number", "write a finite number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise UnreadableError(f"`{text}` is not a finite number", "write a finite number")
    return number
