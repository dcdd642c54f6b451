"""The page with the table of all methods, and the form that filters it."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import tostring

from headroom.io.markdown_escape import text
from headroom.records import MeasuredClaim
from headroom.records.methods import Method
from headroom.site import hardware_switch
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import badge, heading
from headroom.site.matrix import outcomes
from headroom.site.matrix.matrix_rows import GOALS, Goal, MatrixRow, rows
from headroom.site.matrix.outcomes import Outcome
from headroom.site.site_data import INDEX, PageContext, SiteData, claim_page

PAGE = "methods.md"
CSV, JSON = "methods.csv", "methods.json"
_HERE = PageContext(PAGE)
_HEAD = ("| Method | Hardware | Speed | Memory | Result |", "| --- | --- | --- | --- | --- |")
_UNKNOWN, _UNREPORTED = "– not measured", "– nothing reported"
_ELSEWHERE = "reported or computed, not measured here"
_FRONT = """---
title: Methods
description: What each method does to speed, memory and the result, on each hardware class, as far as it is measured
hide: [toc]
---"""
_INTRO = f"""Figures show the value without the method → with it. A ratio (×) above 1 is a gain and below 1 a cost; its
interval follows. A cell shows a method's first [claim]({_HERE.href(INDEX)}); the data have all of them:
[CSV]({CSV}), [JSON]({JSON}). The filter finds a method by the names in its row; the search also finds its variants."""
_OPEN = '<div class="matrix" markdown="block" data-no-terms>'
_WORD = re.compile(r"[^\W_]+")
_WANTED = {"": "any", "speed": "faster", "memory": "less memory", "quality": "the same result"}


def render(site: SiteData) -> str:
    """Return the page as Markdown with front matter."""
    table = "\n".join([*_HEAD, *(_row(site, row) for row in rows(site))])
    parts = (_FRONT, "# Methods", _INTRO, _filters(site), heading("On each hardware"), _OPEN, table, "</div>\n")
    return "\n\n".join(parts)


def _filters(site: SiteData) -> str:
    """Return the form for the script; the style sheet hides it without scripts."""
    goals = "".join(f'<option value="{value}">{name}</option>' for value, name in _WANTED.items())
    hardware = tostring(hardware_switch.select(site, "all", name="hardware"), encoding="unicode", method="html")
    parts = (
        f"<label>Hardware {hardware}</label>",
        f'<label>Wanted <select name="goal">{goals}</select></label>',
        '<label>Method <input name="method" type="search" placeholder="name or flag"></label>',
        '<button type="button" name="csv">CSV of these rows</button>',
        '<output aria-live="polite"></output>',
        '<button type="button" name="all" hidden>Show all</button>',
    )
    return "\n".join(('<form class="matrix-filters" data-search-exclude>', *parts, "</form>"))


def _row(site: SiteData, row: MatrixRow) -> str:
    section = _HERE.href(_section(site, row))
    cells = (_method(site, row, section), _hardware(site, row), *(_cell(row, goal, section) for goal in GOALS))
    return f"| {' | '.join(cells)} |"


def _section(site: SiteData, row: MatrixRow) -> str:
    """Return the section for the row's hardware, if the method has a separate one for CPUs."""
    on_cpus = row.classes and not any(map(site.on_gpu, row.classes))
    return row.method.elsewhere.get("cpu", row.method.section) if on_cpus else row.method.section


def _method(site: SiteData, row: MatrixRow, section: str) -> str:
    """Return the method's name with a link to its section, and the names that the filter matches."""
    names = " ".join((row.method.id, *_aliases(site, row)))
    return f'<span data-names="{text(names)}">[{text(row.method.name)}]({section})</span>'


def _aliases(site: SiteData, row: MatrixRow) -> Iterator[str]:
    """Yield the method's other names, except those of variants that the row's figures are not about."""
    method = row.method
    every = outcomes.active(site, (name for names in method.claims.values() for name in names))
    variants = {_variant(method, claim) for claim in every if isinstance(claim, MeasuredClaim)}
    claims = [outcome.claim for found in row.known.values() for outcome in found[:1]]
    shown = {_variant(method, claim) for claim in claims if isinstance(claim, MeasuredClaim)}
    for alias in method.aliases:
        named = {variant for variant in variants if _is_name_of(alias, variant)}
        if not shown or not named or named & shown:
            yield alias


def _variant(method: Method, claim: MeasuredClaim) -> str:
    """Return the arm of a claim that uses the method."""
    return claim.baseline if claim.id in method.costs else claim.subject


def _is_name_of(alias: str, variant: str) -> bool:
    """Tell whether an alias has at least half of the words of a variant."""
    words, wanted = (set(_WORD.findall(each.lower())) for each in (alias, variant))
    return 2 * len(words & wanted) >= len(wanted)


def _hardware(site: SiteData, row: MatrixRow) -> str:
    named = "; ".join(map(site.short_name, row.classes)) or _ELSEWHERE
    return f'<span data-on="{text(" ".join(row.classes))}">{text(named)}</span>'


def _cell(row: MatrixRow, goal: Goal, section: str) -> str:
    if goal == "quality" and row.method.same_result:
        return f'<span data-gains="">[the same]({section}) <small>a snippet proves it</small></span>'
    return "".join(map(_outcome, row.known[goal][:1])) or (_UNKNOWN if row.classes else _UNREPORTED)


def _outcome(outcome: Outcome) -> str:
    data = f' data-ratio="{outcome.ratio:.6g}"' if outcome.ratio is not None else ""
    data += ' data-gains=""' if outcome.gains else ""
    link = f"[{text(outcome.figures) or 'the claim'}]({_HERE.href(claim_page(outcome.claim.id))})"
    return f"<span{data}>{link} {' '.join(_behind(outcome))} {badge(outcome.status, outcome.word)}</span>"


def _behind(outcome: Outcome) -> Iterator[str]:
    """Yield the ratio with its range, and the conditions."""
    if outcome.ratio is not None:
        yield f"<span>**{phrasing.number(outcome.ratio)}×** {_range(outcome)}</span>"
    if outcome.conditions:
        yield f"<small>{text(outcome.conditions)}</small>"


def _range(outcome: Outcome) -> str:
    if outcome.low is None or outcome.high is None:
        return "without a range"
    if outcome.low == outcome.high:
        return "exactly"
    return f"{phrasing.number(outcome.low)} to {phrasing.number(outcome.high)}"
