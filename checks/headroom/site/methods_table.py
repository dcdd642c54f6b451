"""The table of a guide's methods: what each does to speed and memory, and whether it computes the same."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from headroom.io.markdown_escape import text
from headroom.io.safe_read import read_text
from headroom.pages.link_targets import METHODS, in_family
from headroom.records import CitedClaim, MeasuredClaim
from headroom.records.methods import Method
from headroom.site.site_data import PageContext, SiteData

_LINE = re.compile(rf"^\[\]\({METHODS}(?P<page>[^()\s]+)\)$")
_LINKED = re.compile(r"\]\(([^()\s#]+)")
_ANCHOR = re.compile(r"\{#([\w-]+)\}")
_HEAD = ("| Method | Speed | Memory | Result |", "|---|---|---|---|")


def with_tables(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """The lines of a page, each ``[](methods:PAGE)`` that stands alone replaced by a table of its methods."""
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += table(match["page"], lines, site, page) if match else [line]
    return found


def table(section_page: str, lines: Sequence[str], site: SiteData, page: PageContext) -> Iterator[str]:
    """One row a method, in the order in which the lines first link the pages, and of the sections on each."""
    yield from _HEAD
    order = _places(section_page, lines, site, page)
    for method in sorted(of_page(site, section_page), key=lambda method: (order[method.section], method.name.lower())):
        home, _, anchor = method.section.partition("#")
        target = f"#{anchor}" if home == page.path else page.href(method.section)
        cells = [_cell(site, page, method, kind) for kind in ("speed", "memory")]
        name = f"[{text(method.name)}]({target}){{ #row-{method.id} }}"
        yield f"| {name} | {' | '.join(cells)} | {_result(site, page, method, target)} |"


def _places(section_page: str, lines: Sequence[str], site: SiteData, page: PageContext) -> dict[str, tuple[int, int]]:
    """For each section of a method: the place of its page among those that are linked, and its place on that page."""
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
    """Where it stands first; behind all others where it does not."""
    return among.index(wanted) if wanted in among else len(among)


def of_page(site: SiteData, section_page: str) -> list[Method]:
    """The methods whose sections stand on a page, or on one in the folder of its name."""
    return [found for found in site.tree.methods.values() if in_family(found.section.partition("#")[0], section_page)]


def _cell(site: SiteData, page: PageContext, method: Method, kind: Literal["speed", "memory", "quality"]) -> str:
    """The summary of what says most here: measured for this hardware, else cited in brief, else to be measured.

    What a method costs is measured the other way round, so that its figures are of what is gained without it.
    """
    known = [site.tree.claims[name] for name in method.claims.get(kind, ()) if name in site.tree.claims]
    measured = [claim for claim in known if isinstance(claim, MeasuredClaim)]
    told = [claim for claim in known if isinstance(claim, CitedClaim) and claim.in_brief]
    spoken = [claim for claim in measured if _speaks(site, page, claim)]
    best = next(iter((*spoken, *told, *measured)), None)
    if best is None:
        return "not measured"
    return f"[](claim:{best.id}){' without it' * (best.id in method.costs)}"


def _speaks(site: SiteData, page: PageContext, claim: MeasuredClaim) -> bool:
    return any(site.board.status(claim, hardware) != "unmeasured" for hardware in page.hardware)


def _result(site: SiteData, page: PageContext, method: Method, target: str) -> str:
    """What the method does to the result: proven the same, or what its claims say of quality."""
    if method.same_result:
        return f"[the same]({target}), which a snippet proves"
    return _cell(site, page, method, "quality")
