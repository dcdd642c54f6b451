"""The tables of accelerators: lines ``[](accelerators:NAME)`` of a page."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from headroom.io.markdown_escape import text
from headroom.records import Tree
from headroom.records.accelerators import (
    Accelerator,
    Bandwidth,
    Family,
    Link,
    Memory,
    Power,
    Rate,
    Sourced,
    Unsupported,
)
from headroom.site.markdown_blocks import table
from headroom.site.site_data import SiteData

SCHEME = "accelerators:"
_LINE = re.compile(rf"^\[\]\({SCHEME}([a-z-]+)\)$")
_SIZES = (12, 16, 24, 32, 48, 80, 141, 192)
"""The memory sizes to choose from, in GB as printed."""
_NOTHING, _NONE = "–", "none"
_HEAD = (
    *("Accelerator", "Memory", "Bandwidth, GB/s", "bf16, TFLOPS", "fp8, TFLOPS"),
    *("fp32 vector, TFLOPS", "Link, GB/s each way", "Power, W"),
)


def with_tables(lines: Sequence[str], site: SiteData) -> list[str]:
    """Replace each line ``[](accelerators:NAME)`` with its table.

    Raises:
        LookupError: there is no table of this name.
    """
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += _part(match[1], site.tree) if match else [line]
    return found


def _part(name: str, tree: Tree) -> list[str]:
    if name not in _PARTS:
        raise LookupError(f"there is no table `{SCHEME}{name}`; known are {', '.join(_PARTS)}")
    return ["", *_PARTS[name](tree), ""]


def _each(tree: Tree) -> Iterator[tuple[Family, str, Accelerator]]:
    for family in tree.families.values():
        yield from ((family, name, each) for name, each in family.accelerators.items())


def _all(tree: Tree) -> Iterator[str]:
    """Yield the form and the table of all accelerators, the largest memory first."""
    sizes = "".join(f'<option value="{size}">{size} GB or more</option>' for size in _SIZES)
    yield from (
        '<form class="matrix-filters accelerator-filters" data-search-exclude>',
        '<label>Accelerator <input name="words" type="search" placeholder="name or vendor"></label>',
        f'<label>Memory <select name="memory" autocomplete="off"><option value="">any</option>{sizes}</select></label>',
        '<output aria-live="polite"></output>',
        "</form>",
        "",
        '<div class="accelerators" markdown="block" data-no-terms>',
        "",
    )
    found = sorted(_each(tree), key=lambda row: (-_printed(row[2]), row[2].title))
    yield from table(_HEAD, (_row(*row) for row in found)).splitlines()
    yield from ("", "</div>")


def _printed(each: Accelerator) -> float:
    return each.memory.value if isinstance(each.memory, Memory) else 0.0


def _row(family: Family, name: str, each: Accelerator) -> Sequence[str]:
    names = text(f"{name} {each.title} {family.vendor} {family.title}")
    title = f'<span data-names="{names}" data-memory="{_printed(each):g}">{text(each.title)}</span>'
    memory = each.memory
    size = _cell(family, memory, f"{memory.value:g} {memory.unit}") if isinstance(memory, Memory) else _NOTHING
    fp32 = each.peaks.get("fp32")
    vector = fp32 if isinstance(fp32, Rate) and fp32.units == "vector" else "unknown"
    rates = (_rate(family, each.peaks.get("bf16")), _rate(family, each.peaks.get("fp8")), _rate(family, vector))
    return (title, size, _figure(family, each.bandwidth), *rates, _link(family, each.link), _figure(family, each.power))


def _figure(family: Family, cell: Bandwidth | Power | str) -> str:
    return _cell(family, cell, f"{cell.value:,g}") if isinstance(cell, Bandwidth | Power) else _NOTHING


def _rate(family: Family, cell: Rate | Unsupported | str | None) -> str:
    if isinstance(cell, Rate) and cell.value != "unknown":
        return _cell(family, cell, f"{cell.value:,g}")
    return _cell(family, cell, _NONE) if isinstance(cell, Unsupported) else _NOTHING


def _link(family: Family, cell: Link | Unsupported | str) -> str:
    if isinstance(cell, Link):
        return _cell(family, cell, f"{cell.one_direction:g}") + f" <small>{text(cell.name)}</small>"
    return _cell(family, cell, _NONE) if isinstance(cell, Unsupported) else _NOTHING


def _cell(family: Family, cell: Sourced, shown: str) -> str:
    """Return a figure with a link to its source; a question mark follows one with low confidence."""
    source = family.sources[cell.source]
    title = escape(f"{source.title}, {source.locator}; confidence {cell.confidence}")
    doubt = "?" if cell.confidence == "low" else ""
    return f'<a class="fact" href="{escape(source.url)}" title="{title}">{text(shown)}</a>{doubt}'


def _achieved(tree: Tree) -> Iterator[str]:
    """Yield the table of achieved matmul rates next to the peaks, the highest share first."""
    found = []
    for family, _, each in _each(tree):
        for name, cell in each.achieved.items():
            if peak := each.peak(name):
                share = cell.value / peak
                row = (text(each.title), name, _cell(family, cell, f"{cell.value:,g}"), f"{peak:,g}", f"{share:.0%}")
                found.append((share, row))
    found.sort(key=lambda row: -row[0])
    yield from table(
        ("Accelerator", "Format", "Achieved, TFLOPS", "Peak", "Share"), (row for _, row in found)
    ).splitlines()


def _exceptions(tree: Tree) -> Iterator[str]:
    """Yield the accelerators whose figures break a usual ratio, with the reason."""
    rows = (
        (text(each.title), text(check), text(why))
        for _, _, each in _each(tree)
        for check, why in each.exceptions.items()
    )
    yield from table(("Accelerator", "Check", "Why it does not hold"), rows).splitlines()


def _notes(tree: Tree) -> Iterator[str]:
    """Yield what other lists print."""
    rows = ((text(each.title), text(each.note)) for _, _, each in _each(tree) if each.note)
    yield from table(("Accelerator", "Note"), rows).splitlines()


_PARTS: Mapping[str, Callable[[Tree], Iterator[str]]] = {
    "all": _all,
    "achieved": _achieved,
    "exceptions": _exceptions,
    "notes": _notes,
}
