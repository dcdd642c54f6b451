"""The line below a page's title: when its code ran, when its evidence was measured, and which evidence is stale."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement

from headroom.records import MeasuredClaim
from headroom.records.snippets import Snippet, SnippetRun
from headroom.site.claims import phrasing
from headroom.site.ran_on import SCHEME
from headroom.site.site_data import PageContext, SiteData, claim_page
from headroom.verdicts import Standing

_SHOWN = ("torch", "transformers")


@dataclass(frozen=True, slots=True)
class Used:
    """The ids of the snippets and claims that a page shows, in order."""

    snippets: Sequence[str] = ()
    claims: Sequence[str] = ()


def used(hrefs: Iterable[str]) -> Used | None:
    """Return the snippets and claims that a page's links show, or None if they show none."""
    each = [*hrefs]
    snippets = [
        urlsplit(href).path.removeprefix("snippets/").removesuffix(".py") for href in each if href.startswith(SCHEME)
    ]
    claims = [re.split("[#@]", href)[0].removeprefix("claim:") for href in each if href.startswith("claim:")]
    return Used(snippets, claims) if snippets or claims else None


def insert(root: Element, used: Used, site: SiteData, page: PageContext) -> None:
    """Insert the line and the list of stale evidence below the page's title, if there is anything to show."""
    title = next((i for i, child in enumerate(root) if child.tag == "h1"), None)
    if title is None:
        return
    for place, element in enumerate(_elements(used, site, page), title + 1):
        root.insert(place, element)


def _elements(used: Used, site: SiteData, page: PageContext) -> Iterator[Element]:
    shown = [site.tree.snippets[name] for name in dict.fromkeys(used.snippets) if name in site.tree.snippets]
    ran = [run for run in (_newest(snippet, site) for snippet in shown) if run]
    standings = dict(_standings(used, site, page))
    heads = [each.session.head for found in standings.values() for each in found if each.session]
    parts = [
        f"Code last run {_days(run.date for run in ran)} on {_devices(ran, site)}." if ran else "",
        f"Not run in this form: {len(shown) - len(ran)} of {len(shown)} scripts." if len(shown) > len(ran) else "",
        f"Evidence measured {_days(head.date for head in heads)}." if heads else "",
        _versions([*(run.versions for run in ran), *(head.environment.versions for head in heads)]),
    ]
    if any(parts):
        line = Element("p", {"class": "verified", "data-search-exclude": ""})
        line.text = " ".join(filter(None, parts))
        yield line
    stale = [
        claim for claim, found in standings.items() if any(each.age and each.age.word == "stale" for each in found)
    ]
    if stale:
        yield _banner(stale, len(standings), site, page)


def _newest(snippet: Snippet, site: SiteData) -> SnippetRun | None:
    """Return the newest run record of exactly this version of a snippet."""
    found = [run for (name, _), run in site.tree.runs.items() if name == snippet.id and run.sha256 == snippet.sha256]
    return max(found, key=lambda run: run.date, default=None)


def _standings(used: Used, site: SiteData, page: PageContext) -> Iterator[tuple[str, list[Standing]]]:
    """Yield each measured claim with its standings on the page's hardware."""
    for name in dict.fromkeys(used.claims):
        claim = site.tree.claims.get(name)
        if isinstance(claim, MeasuredClaim) and not claim.retired:
            views = [phrasing.view(site, claim, each) for each in page.hardware or site.classes_of(claim)]
            found = [view.standing for view in views if view.source and view.standing.session]
            if found:
                yield name, found


def _devices(ran: Sequence[SnippetRun], site: SiteData) -> str:
    return " and ".join(sorted({"a GPU" if site.on_gpu(run.hardware_class) else "a CPU" for run in ran}))


def _days(dates: Iterable[str]) -> str:
    known = sorted(set(dates))
    return " to ".join(phrasing.day(date) for date in dict.fromkeys((known[0], known[-1])))


def _versions(known: Sequence[Mapping[str, str]]) -> str:
    """Return the versions of torch and transformers, as a range if they differ."""
    found = {key: sorted({one[key].partition("+")[0] for one in known if key in one}, key=_order) for key in _SHOWN}
    parts = [f"{key} {' to '.join(dict.fromkeys((some[0], some[-1])))}" for key, some in found.items() if some]
    return f"With {', '.join(parts)}." if parts else ""


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _banner(stale: Sequence[str], all_of_them: int, site: SiteData, page: PageContext) -> Element:
    """Return a folded list of claims with stale evidence; its summary gives their number."""
    found = Element("details", {"class": "stale", "data-search-exclude": ""})
    SubElement(found, "summary").text = f"Stale: the evidence of {len(stale)} of the {all_of_them} measured claims here"
    listed = SubElement(found, "ul")
    for name in stale:
        link = SubElement(SubElement(listed, "li"), "a", {"href": page.href(claim_page(name))})
        link.text = site.tree.claims[name].statement
    return found
