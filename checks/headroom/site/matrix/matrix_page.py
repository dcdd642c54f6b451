"""The page with the table of all methods, and the form that filters it."""

from collections.abc import Iterator, Sequence

from headroom.io.markdown_escape import text
from headroom.records import MeasuredClaim, ReportedClaim
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import badge, heading
from headroom.site.matrix import matrix_rows
from headroom.site.matrix.matrix_rows import MatrixRow
from headroom.site.matrix.outcomes import Outcome
from headroom.site.site_data import INDEX, PageContext, SiteData, claim_page

PAGE = "methods.md"
CSV, JSON = "methods.csv", "methods.json"
_HERE = PageContext(PAGE)
_FRONT = """---
title: Methods
description: What each method and variant does to speed, memory and the result, on each hardware with evidence
hide: [toc]
---"""
_INTRO = f"""One row per method or variant, one column per hardware that has evidence. A ratio (×) above 1 is a gain and
below 1 a cost. A cell shows the first [claim]({_HERE.href(INDEX)}) on speed and the first on memory; all of them are in
the data: [CSV]({CSV}), [JSON]({JSON})."""
_LEGEND = """**–** means that nothing is known. Tinted results are gains. **Measured** means measured here, **reported**
means recomputed from rows that somebody else published, **cited** means quoted. Memory that is counted on a CPU is the
same on a GPU; a time is not. Results have different baselines: do not rank methods by their ratios.
{ .others }"""
_OPEN = '<div class="matrix" markdown="block" data-no-terms>'
_NOTHING = "–"
_WANTED = {"": "any", "speed": "faster", "memory": "less memory", "quality": "the same result"}


def render(site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    every = list(matrix_rows.rows(site))
    columns = matrix_rows.columns(site, every)
    titles = ["Method", *(text(title) for title, _ in columns), "Result"]
    lines = [titles, ["---"] * len(titles), *(_row(row, columns) for row in every)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = (_FRONT, "# Methods", _INTRO, _filters(site, every), _LEGEND)
    return "\n\n".join((*parts, heading("By hardware"), _OPEN, table, "</div>\n"))


def _filters(site: SiteData, every: list[MatrixRow]) -> str:
    """Return the form for the script; the style sheet hides it without scripts."""
    goals = "".join(f'<option value="{value}">{name}</option>' for value, name in _WANTED.items())
    named = matrix_rows.hardware(site, every).items()
    options = "".join(f'<option value="{text(name)}">{text(title)}</option>' for name, title in (("", "all"), *named))
    # Without autocomplete=off a browser may restore an earlier choice without filtering the rows.
    select = f'<select name="hardware" data-hardware="" autocomplete="off">{options}</select>'
    parts = (
        f"<label>Hardware {select}</label>",
        f'<label>Wanted <select name="goal">{goals}</select></label>',
        '<label>Method <input name="method" type="search" placeholder="name or flag"></label>',
        '<button type="button" name="csv">CSV of these rows</button>',
        '<output aria-live="polite"></output>',
        '<button type="button" name="all" hidden>Show all</button>',
    )
    return "\n".join(('<form class="matrix-filters" data-search-exclude>', *parts, "</form>"))


def _row(row: MatrixRow, columns: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    section = _HERE.href(row.method.section)
    cells = [_cell(row, names) for _, names in columns]
    return [_method(row, section), *cells, _result(row, section)]


def _method(row: MatrixRow, section: str) -> str:
    """Return the row's name with a link to its section, and the names that the filter matches."""
    names = text(" ".join((row.method.id, row.name, *_aliases(row))))
    of = f"<small>{text(row.method.name)}</small>" if row.variant else ""
    return f'<span data-names="{names}">[{text(row.name)}]({section}){of}</span>'


def _aliases(row: MatrixRow) -> Iterator[str]:
    """Yield the row's other names: a variant's own, or those of the method that no variant has."""
    if row.variant:
        yield from row.variant.aliases
        return
    taken = {alias for variant in row.method.variants for alias in variant.aliases}
    yield from (alias for alias in row.method.aliases if alias not in taken)


def _cell(row: MatrixRow, names: tuple[str, ...]) -> str:
    """Return the first outcome on speed and on memory of each hardware of a column."""
    found = [
        _outcome(outcome, goal, name)
        for name in names
        for goal in ("speed", "memory")
        for outcome in row.known.get(name, {}).get(goal, ())[:1]
    ]
    return "".join(found) or _NOTHING


def _result(row: MatrixRow, section: str) -> str:
    if row.method.same_result and not row.variant:
        proof = f"[the same]({section}) <small>a snippet proves it</small>"
        return f'<span data-goal="quality" data-gains="">{proof}</span>'
    known = ((name, outcome) for name, goals in row.known.items() for outcome in goals.get("quality", ())[:1])
    return next((_outcome(outcome, "quality", name) for name, outcome in known), _NOTHING)


def _outcome(outcome: Outcome, goal: str, hardware: str) -> str:
    data = f' data-goal="{goal}" data-on="{text(hardware)}"'
    data += f' data-ratio="{outcome.ratio:.6g}"' if outcome.ratio is not None else ""
    data += ' data-gains=""' if outcome.gains else ""
    link = f"[{text(_figure(outcome))}]({_HERE.href(claim_page(outcome.claim.id))})"
    return f"<span{data}>{link} {badge(outcome.status, outcome.word)} {_small(outcome)}</span>"


def _figure(outcome: Outcome) -> str:
    """Return what the link shows: the metric and its ratio, or a citation's figure."""
    if outcome.ratio is not None and isinstance(outcome.claim, MeasuredClaim):
        return f"{outcome.claim.metric.kind.title}: {phrasing.number(outcome.ratio)}×"
    return outcome.figures or "the claim"


def _small(outcome: Outcome) -> str:
    """Return the figures before and after with the ratio's range, and the conditions."""
    measured = outcome.ratio is not None and not isinstance(outcome.claim, ReportedClaim)
    figures = outcome.figures.replace("\u00a0→\u00a0", " → ")  # columns are narrow
    shown = [f"{figures}, {_range(outcome)}" if measured else "", outcome.conditions]
    return "".join(f"<small>{text(each)}</small>" for each in shown if each)


def _range(outcome: Outcome) -> str:
    if outcome.low is None or outcome.high is None:
        return "without a range"
    if outcome.low == outcome.high:
        return "exactly"
    return f"{phrasing.number(outcome.low)} to {phrasing.number(outcome.high)}×"
