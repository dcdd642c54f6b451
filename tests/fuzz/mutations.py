"""Random changes of files: of their bytes, of their lines, and of what is written in them."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import yaml

Mutation = Callable[[Random, bytes], bytes]

WORDS = (
    *("", " ", "\n", "\n\n", "\t", "\r\n", "\r", "\x00", "\ufeff", "\u202e", "\u2028", "\x1b[2J", "×", "é", "🙂"),
    *("ǆ", "\ud7ff", "---\n", "...\n", "- ", ": ", "? ", "!!str ", "!x ", "&a ", "*a ", "<<: ", "|\n", ">-\n"),
    *("{", "}", "[", "]", '"', "'", "#", ",", "null", "true", "~", ".nan", "NaN", "1e999", "-0", "0", "1", "8"),
    *("1e-300", "99999999999999999999", "2026-11-21", "0001-01-01", "h200", "cpu", "[", "](", ")", "[](claim:"),
    *("[?](claim:training.clever.step-time#ratio@h200,batch_size=8)", "[1 %](fact:number-formats.fp16_max)"),
    *("[](methods:training/gpu.md)\n", "```\n", "```python\n", "~~~\n", "````", "`", "``", "<!--", "-->"),
    *("<!-- not-run: x -->\n", '--8<-- "snippets/training/clever.py:enable"\n', '--8<-- "../x"\n'),
    *("# /// script\n", "# ///\n", "# [tool.headroom]\n", "# x = 1\n", "# --8<-- [start:a]\n"),
    *("# --8<-- [end:a]\n", '"""', "ARMS = (1,)\n", "ARMS = ('a',)\n", "(", ")", "lambda:", "if x:\n", "\\"),
    *("\\u", "\\ud800", "<<<<<<< a\n", ">>>>>>> b\n", "=======\n", "# A {#a}\n", "| a | b |\n|---|---|\n", "> "),
    *("1. ", "    ", "!!! note\n", "<script>", "&amp;", "is faster than", "twice as fast", "up to 9×", "never"),
    *("on any GPU", "half the memory", "1,234.5 tokens/s", "−4 %", "about 3 GiB"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 8, 9223372036854775808, 1e-300, 1e300, -0.0, 0.5, "", " ", "x", "\x1b"),
    *("training.clever.step-time", "h200", [], {}, [[]], [None], {"x": 1}, "clever", "plain", "batch_size"),
    *("step_time", "2026-02-30", "supported"),
    ["x"] * 40,
    "y" * 700,
)


def flip(random: Random, data: bytes) -> bytes:
    """One bit of one byte."""
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def cut(random: Random, data: bytes) -> bytes:
    """Some bytes less."""
    start = random.randrange(len(data) + 1)
    return data[:start] + data[start + random.choice((1, 2, 8, 64, 4096)) :]


def repeat(random: Random, data: bytes) -> bytes:
    """Some bytes again, or many times."""
    start = random.randrange(len(data) + 1)
    part = data[start : start + random.choice((1, 4, 32, 256))]
    return data[:start] + part * random.choice((2, 2, 3, 200)) + data[start + len(part) :]


def insert(random: Random, data: bytes) -> bytes:
    """A word that means something to one of the grammars."""
    at = random.randrange(len(data) + 1)
    return (
        data[:at] + random.choice(WORDS).encode("utf-8", "surrogatepass") * random.choice((1, 1, 1, 2, 50)) + data[at:]
    )


def lines(random: Random, data: bytes) -> bytes:
    """A line gone, moved, doubled, or with a word before it."""
    rows = data.split(b"\n")
    at = random.randrange(len(rows))
    row = rows.pop(at)
    added: tuple[list[bytes], ...] = (
        [],
        [row],
        [row, row],
        [random.choice(WORDS).encode("utf-8", "surrogatepass") + row],
    )
    rows[at:at] = added[random.randrange(4)] if random.random() < 0.7 else []
    if random.random() < 0.3:
        rows.insert(random.randrange(len(rows) + 1), row)
    return b"\n".join(rows)


def digits(random: Random, data: bytes) -> bytes:
    """One digit is another."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return data
    at = random.choice(places)
    return data[:at] + str(random.randrange(10)).encode() + data[at + 1 :]


def structure(random: Random, data: bytes) -> bytes:
    """A value of a record or of front matter is another, is gone, or is wrapped; the rest stays as it is."""
    text = data.decode("utf-8", "replace")
    head, front, rest = text.partition("---\n") if text.startswith("---\n") else ("", "", "")
    part, mark, body = rest.partition("---\n") if front else (text, "", "")
    try:
        value = json.loads(part) if part.lstrip().startswith("{") else yaml.safe_load(part)
    except (ValueError, yaml.YAMLError, RecursionError):
        return insert(random, data)
    changed = _changed(random, value)
    try:
        if part.lstrip().startswith("{"):
            written = json.dumps(changed, indent=1, ensure_ascii=random.random() < 0.5, sort_keys=True) + "\n"
        else:
            written = yaml.safe_dump(changed, allow_unicode=True, sort_keys=False)
    except (ValueError, yaml.YAMLError, TypeError):
        return data
    return (head + front + written + mark + body).encode("utf-8", "surrogatepass")


def _changed(random: Random, value: Any) -> Any:
    """The value, changed somewhere inside."""
    if value and isinstance(value, dict) and random.random() < 0.85:
        return _changed_mapping(random, value)
    if value and isinstance(value, list) and random.random() < 0.85:
        at = random.randrange(len(value))
        inside = [[], [value[at], value[at]], [_changed(random, value[at])], [_changed(random, value[at])]]
        return [*value[:at], *random.choice(inside), *value[at + 1 :]]
    return random.choice((*VALUES, [value], {"x": value}))


def _changed_mapping(random: Random, value: dict[str, Any]) -> dict[str, Any]:
    """A mapping with a key less, a key more, or another value."""
    key = random.choice(list(value))
    rest = {name: inside for name, inside in value.items() if name != key}
    more = {**value, random.choice(("x", "hardware", "control", *map(str, value))): random.choice(VALUES)}
    other = {**value, key: _changed(random, value[key])}
    return random.choice((rest, more, other, other, other, other))


MUTATIONS: tuple[Mutation, ...] = (
    flip,
    cut,
    repeat,
    insert,
    insert,
    lines,
    lines,
    digits,
    structure,
    structure,
    structure,
)
