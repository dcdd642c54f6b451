"""Parse the addresses of predicted figures and of tables of them.

``estimate:MODEL/JOB?OPTION=VALUE&SWITCH#PART`` is one figure. In ``estimate-table:…`` one or two of MODEL, JOB and the
options' values are lists with commas, the rows and the columns of the table.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice
from typing import Final

from headroom.memory.job import Job
from headroom.memory.layouts import Layout

SCHEME: Final = "estimate:"
TABLE: Final = "estimate-table:"
CARD: Final = "card"
"""The option that gives the card, and the part that is the smallest usual card."""
_ADDRESS = re.compile(r"(?P<model>[^?#]+)/(?P<job>[^?#/]+)(?:\?(?P<options>[^#]*))?(?:#(?P<part>.+))?")
_TYPES: Final = {
    each.name: each.type for each in (*fields(Job), *fields(Layout)) if each.name not in ("job", "layout")
} | {CARD: str}
_SYNTAX: Final = "write `estimate:MODEL/JOB?OPTION=VALUE&SWITCH#PART`"
_MOST_AXES: Final = 2
_MOST_ITEMS: Final = 30
Option = str | int | bool


@dataclass(frozen=True, slots=True)
class EstimateTarget:
    """The model, the job with its options, and the part of an estimate; an empty part is the peak."""

    model: str
    job: str
    options: tuple[tuple[str, Option], ...] = ()
    part: str = ""


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """The titles of the columns, and each row's title with the addresses of its figures."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def parse_estimate(href: str) -> EstimateTarget:
    """Return the target of an ``estimate:`` address.

    Raises:
        ValueError: it has another form, an unknown option, or an option with a value of another type.
    """
    model, job, options, part = _split(href.removeprefix(SCHEME))
    found = tuple((name, _value(name, text)) for name, text in options.items())
    return EstimateTarget(model, job, found, part)


def _split(address: str) -> tuple[str, str, dict[str, str | None], str]:
    """Return the model, the job, the options as written (None for a switch), and the part."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise ValueError(f"`{address}` names no model and job; {_SYNTAX}")
    options: dict[str, str | None] = {}
    for given in filter(None, (match["options"] or "").split("&")):
        name, is_, text = given.partition("=")
        name = name.replace("-", "_")
        if name not in _TYPES:
            raise ValueError(f"`{name}` is no option; use one of {', '.join(sorted(_TYPES))}")
        if name in options:
            raise ValueError(f"`{name}` has two values; remove one")
        options[name] = text if is_ else None
    return match["model"], match["job"], options, match["part"] or ""


def _value(name: str, text: str | None) -> Option:
    """Return an option's value in the type of its field; a switch has no value."""
    if (_TYPES[name] is bool) != (text is None):
        raise ValueError(
            f"`{name}` has no value; write `{name}=VALUE`"
            if text is None
            else f"`{name}` is a switch; write no value after it"
        )
    if text is None:
        return True
    if _TYPES[name] is not int:
        return text
    if not text.isdecimal():
        raise ValueError(f"`{name}` is `{text}`; write a whole number")
    return int(text)


def parse_table(href: str, text: str = "") -> EstimateTable:
    """Return the table of an ``estimate-table:`` address.

    Args:
        href: its address; an item of JOB may change options itself, as ``full+precision=autocast``.
        text: the link's text: the titles of all columns, divided by ``;``. Without it, items are titles.

    Raises:
        ValueError: it has another form, or not one or two lists, or not a title per column.
    """
    model, job, options, part = _split(href.removeprefix(TABLE))
    given = {"model": model, "job": job, **options}
    lists = {name: items for name, text in given.items() if text and len(items := text.split(",")) > 1}
    if not 1 <= len(lists) <= _MOST_AXES:
        raise ValueError(f"the table has {len(lists)} lists; give one or two of model, job and options a list")
    (rows, items), *second = lists.items()
    if (longest := max(map(len, lists.values()))) > _MOST_ITEMS:
        raise ValueError(f"a list of the table has {longest} items; write at most {_MOST_ITEMS}")
    column, heads = second[0] if second else ("", ["peak"])
    titles = tuple(each.strip() for each in text.split(";")) if text else (rows, *heads)
    if len(titles) != len(heads) + 1:
        raise ValueError(f"the table has {len(heads) + 1} columns and {len(titles)} titles; divide titles by `;`")
    cells = (tuple(_address({**given, rows: item, column: head}, part) for head in heads) for item in items)
    return EstimateTable(titles, tuple(zip(items, cells, strict=True)))


def _address(given: dict[str, str | None], part: str) -> str:
    """Return the address of a cell."""
    job, *own = str(given["job"]).split("+")
    options = dict(_options(given))
    for each in own:
        name, is_, text = each.partition("=")
        options[name] = text if is_ else None
    written = "&".join(name if text is None else f"{name}={text}" for name, text in options.items())
    return f"{SCHEME}{given['model']}/{job}{'?' * bool(written)}{written}{'#' * bool(part)}{part}"


def _options(given: dict[str, str | None]) -> Iterator[tuple[str, str | None]]:
    """Yield the options, which follow the model and the job."""
    return ((name, text) for name, text in islice(given.items(), 2, None) if name)
