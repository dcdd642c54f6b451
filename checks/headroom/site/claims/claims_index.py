"""The index page of all claims: a table per method, and the form that filters them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import median

from headroom.io.markdown_escape import text
from headroom.memory.error_samples import comparisons
from headroom.memory.percentiles import percentile
from headroom.records import Claim
from headroom.records.methods import Method
from headroom.site.claims import index_results
from headroom.site.markdown_blocks import badge
from headroom.site.site_data import INDEX, PageContext, SiteData, claim_page

_HERE = PageContext(INDEX)
_FRONT = '---\ntitle: Claims\ndescription: "Index of all benchmarks and other claims, with verdicts"\n---'
_INTRO = """Every comparison on this site is one of these claims: benchmarks of this project, results that others
published, and formulas. The site computes each verdict from the raw samples whenever it is built, separately for each
[hardware class](hardware.md). A ratio (×) above 1 supports the claim, and **–** means “not measured yet”.
[What changed](changes.md) lately, and [all of it as data](../claims.json)."""
_ESTIMATES = "tools/estimate-errors.md"
_COMPARED = {
    "published": "Estimated peak memory, compared with peaks that others measured on GPUs",
    "traced": "Estimated peak memory, compared with traced steps of published models",
    "measured": "Traced peak memory, compared with steps that this project measured",
}
"""The comparisons of memory estimates, which are sections of one page."""
_LEAST = 0.1
_OWN = "How this project measures"
"""The heading of claims that are about no method."""


def index(site: SiteData) -> str:
    """Return the page as Markdown: a form, and a table of claims per method."""
    claims = sorted(site.tree.claims.values(), key=lambda claim: (_order(site, claim), claim.id))
    parts = [_FRONT, "# Claims", _INTRO, _filters(site, claims, len(_compared(site)))]
    for _, group in groupby(claims, key=lambda claim: _order(site, claim)):
        parts += _group(list(group), site)
    return "\n\n".join([*parts, *_estimates(_compared(site))]) + "\n"


def _order(site: SiteData, claim: Claim) -> tuple[bool, str, str]:
    """Return what claims are sorted and grouped by: the method's name; claims about no method come last."""
    method = _method(site, claim)
    return claim.method is None, method.name.lower() if method else "", claim.method or ""


def _method(site: SiteData, claim: Claim) -> Method | None:
    return site.tree.methods.get(claim.method or "")


def _compared(site: SiteData) -> dict[str, list[float]]:
    """Return the errors of each comparison of memory estimates, if the site has their page."""
    return comparisons(site.tree) if any(page.path == f"docs/{_ESTIMATES}" for page in site.pages) else {}


def _estimates(compared: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the table of the comparisons of memory estimates, each with a link to its section."""
    if not compared:
        return []
    rows = []
    for name, errors in compared.items():
        sizes = [abs(each) for each in errors]
        within = f"median {_share(median(sizes))}, 95 % of the figures within {_share(percentile(sizes, 0.95))}"
        link = f"[{_COMPARED[name]}]({_HERE.href(_ESTIMATES)}#estimate-{name})"
        result = index_results.line(badge("modelled", "computed"), within, f"error of {len(errors)} peaks")
        rows.append(f'| <span data-status="modelled">{link}</span> | {result} |')
    return _table(f"[Memory estimates]({_HERE.href(_ESTIMATES)})", "memory-estimates", "memory estimate", rows)


def _share(error: float) -> str:
    return f"{error:.1f} %" if error >= _LEAST else f"below {_LEAST} %"


def _filters(site: SiteData, claims: list[Claim], estimates: int) -> str:
    """Return the form for the script; the style sheet hides it without scripts."""
    counts = Counter(status for claim in claims for status in index_results.statuses(claim, site))
    counts["modelled"] += estimates
    found = [
        ("", "all", len(claims) + estimates),
        *((key, word, counts[key]) for key, word in index_results.STATUSES.items()),
    ]
    chips = "".join(_chip(*each) for each in found if each[2])
    parts = (
        '<label>Claim <input name="words" type="search" placeholder="method, metric or GPU"></label>',
        f'<fieldset class="chips"><legend>Status</legend>{chips}</fieldset>',
        '<output aria-live="polite"></output>',
    )
    return "\n".join(('<form class="matrix-filters claim-filters" data-search-exclude>', *parts, "</form>"))


def _chip(status: str, word: str, count: int) -> str:
    # Without autocomplete=off a browser may restore an earlier choice without filtering the rows.
    checked = "" if status else " checked"
    field = f'<input type="radio" name="status" value="{status}" autocomplete="off"{checked}>'
    return f"<label>{field}{word} <small>{count}</small></label>"


def _group(claims: list[Claim], site: SiteData) -> list[str]:
    """Return a heading that links the method's section, and the table of its claims."""
    method, slug = _method(site, claims[0]), claims[0].method
    named = f"[{text(method.name)}]({_HERE.href(method.section)})" if method else text(slug or _OWN)
    names = text(" ".join((slug or "", *((method.name, *method.aliases) if method else ()))))
    rows = [f"| {_named(claim, site)} | {index_results.result(claim, site)} |" for claim in claims]
    return _table(named, slug or "own", names, rows)


def _table(title: str, anchor: str, names: str, rows: list[str]) -> list[str]:
    """Return a section with a table; the names are words that the filter finds."""
    table = "\n".join(["| claim | verdict |", "| --- | --- |", *rows])
    opened = f'<div class="claim-index" data-names="{names}" markdown="block" data-no-terms>'
    return [f"## {title} {{ #{anchor} data-search-exclude }}", opened, table, "</div>"]


def _named(claim: Claim, site: SiteData) -> str:
    """Return the claim's sentence with a link to its page, and the statuses that the filter matches."""
    found = " ".join(index_results.statuses(claim, site))
    return f'<span data-status="{found}">[{text(claim.statement)}]({_HERE.href(claim_page(claim.id))})</span>'
