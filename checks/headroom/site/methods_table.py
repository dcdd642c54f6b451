"""The table of a guide's methods: their effect on speed, memory and the result."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from headroom.io.markdown_escape import text
from headroom.io.safe_read import read_text
from headroom.pages.link_targets import METHODS, in_family
from headroom.records import CitedClaim, MeasuredClaim, ReportedClaim
from headroom.records.methods import Method
from headroom.site.site_data import PageContext, SiteData

_LINE = re.compile(rf"^\[\]\({METHODS}(?P<page>[^()\s]+)\)$")
_LINKED = re.compile(r"\]\(([^()\s#]+)")
_ANCHOR = re.compile(r"\{#([\w-]+)\}")
_UNKNOWN = "–"
_HEAD = ("| Method | Speed | Memory | Result |", "|---|---|---|---|")


def with_tables(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """Replace each line ``[](methods:PAGE)`` with the table of that page's methods."""
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += table(match["page"], lines, site, page) if match else [line]
    return found


def table(section_page: str, lines: Sequence[str], site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the table, ordered by the first link to each page, then by the sections on each page.

    A line below the table names the methods without any figure.
    """
    yield from _HEAD
    order = _places(section_page, lines, site, page)
    without = []
    for method in sorted(of_page(site, section_page), key=lambda method: (order[method.section], method.name.lower())):
        home, _, anchor = method.section.partition("#")
        target = f"#{anchor}" if home == page.path else page.href(method.section)
        cells = [_cell(site, page, method, kind) for kind in ("speed", "memory")]
        cells.append(_result(site, page, method, target))
        name = f"[{text(method.name)}]({target}){{ #row-{method.id} }}"
        if set(cells) == {_UNKNOWN}:
            without.append(name)
        else:
            yield f"| {name} | {' | '.join(cells)} |"
    legend = f"“{_UNKNOWN}” means that nothing is known."
    yield from ("", f"{legend} Methods without a figure: {', '.join(without)}." if without else legend)


def _places(section_page: str, lines: Sequence[str], site: SiteData, page: PageContext) -> dict[str, tuple[int, int]]:
    """Return, by section, the rank of its page among the links and its rank on that page."""
    linked = [found for line in lines for found in _LINKED.findall(line)]
    places = {}
    for section in {method.section for method in of_page(site, section_page)}:
        home, _, anchor = section.partition("#")
        here = home == page.path
        source = "\n".join(lines) if here else read_text(site.tree.root / "docs" / home, site.tree.root)
        anchors = _ANCHOR.findall(source)
        places[section] = (-1 if here else _place(page.href(home), linked), _place(anchor, anchors))
    return places


def _place(wanted: str, among: Sequence[str]) -> int:
    """Return the first index of a value, or the length if it is absent."""
    return among.index(wanted) if wanted in among else len(among)


def of_page(site: SiteData, section_page: str) -> list[Method]:
    """Return the methods with a section on this page or on a page in the folder of its name."""
    return [found for found in site.tree.methods.values() if in_family(found.section.partition("#")[0], section_page)]


def _cell(site: SiteData, page: PageContext, method: Method, kind: Literal["speed", "memory", "quality"]) -> str:
    """Return the summary of the best evidence: decided on this hardware, else reported, cited, undecided, or a dash.

    A measured or cited claim about a method's cost gets the words "without it": its figures show the gain of leaving
    the method out. The subject of a reported claim is the method itself.
    """
    known = [site.tree.claims[name] for name in method.claims.get(kind, ()) if name in site.tree.claims]
    measured = [claim for claim in known if isinstance(claim, MeasuredClaim)]
    cited = [claim for claim in known if isinstance(claim, CitedClaim) and claim.in_brief]
    reported = [claim for claim in known if isinstance(claim, ReportedClaim) and not claim.retired]
    here = [claim for claim in measured if _statuses(site, page, claim) - {"unmeasured"}]
    decided = [claim for claim in here if _statuses(site, page, claim) - {"unmeasured", "inconclusive"}]
    best = next(iter((*decided, *reported, *cited, *here)), None)
    if best is None:
        return _UNKNOWN
    left_out = best.id in method.costs and not isinstance(best, ReportedClaim)
    return f"[](claim:{best.id}){' without it' * left_out}"


def _statuses(site: SiteData, page: PageContext, claim: MeasuredClaim) -> set[str]:
    """Return the claim's statuses on the page's hardware."""
    return {site.board.status(claim, hardware) for hardware in page.hardware}


def _result(site: SiteData, page: PageContext, method: Method, target: str) -> str:
    """Return the method's effect on the result: proven the same, or the summary of its quality claims."""
    if method.same_result:
        return f"[the same]({target}), which a snippet proves"
    return _cell(site, page, method, "quality")
