"""How to cite a claim: a BibTeX entry, and schema.org metadata for search engines."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from headroom.io.markdown_escape import one_line
from headroom.records import CitedClaim, Claim, Session
from headroom.records.published_comparisons import Source
from headroom.site.markdown_blocks import folded
from headroom.site.site_data import PageContext, SiteData, claim_file, claim_page, evidence_file, html_page

_AUTHORS = "The Headroom contributors"
_LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
_BIBTEX = {char: f"\\{char}" for char in "&%$#_"} | {
    "{": "\\textbraceleft{}",  # BibTeX counts braces, also those after a backslash
    "}": "\\textbraceright{}",
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "`": "\\textasciigrave{}",
    '"': "''",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def folded_entry(claim: Claim, site: SiteData) -> Iterator[str]:
    """Yield the folded BibTeX entry of a claim's page."""
    titles = {"cited": "Cite its source", "reported": "Cite its source and this claim"}
    title = titles.get(claim.kind, "Cite it")
    yield folded("quote", title, f"```bibtex\n{bibtex(claim, site)}\n```")


def bibtex(claim: Claim, site: SiteData) -> str:
    """Return the entry for the source of a cited claim, or else for the claim, dated by its newest evidence.

    Before the entry of a reported claim are those of the sources that published its rows.
    """
    key = f"headroom-{claim.id.replace('.', '-')}"
    if isinstance(claim, CitedClaim):
        return _entry(key, _source(claim))
    sources = {each.source.url: each.source for each in site.tree.published.of(claim.id)}
    entries = [_entry(f"{key}-source-{i}", _published(each)) for i, each in enumerate(sources.values(), 1)]
    return "\n\n".join((*entries, _entry(key, _own(claim, site))))


def _entry(key: str, fields: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"  {name} = {value},\n" for name, value in fields)
    return f"@misc{{{key},\n{rows}}}"


def _own(claim: Claim, site: SiteData) -> Iterator[tuple[str, str]]:
    sessions = _sessions(claim, site)
    yield "title", _text(claim.statement)
    yield "author", _text(_AUTHORS)
    if sessions:
        year, month, _ = max(session.head.date for session in sessions).split("-")
        yield "year", year
        yield "month", _MONTHS[(int(month) - 1) % 12]
    verdicts = "; ".join(
        f"{found.status} on {site.class_name(name)}, {found.session.head.date}"
        for name, found in site.board.standings[claim.id].items()
        if found.session
    )
    yield "note", _text(f"Headroom, claim {claim.id}" + (f": {verdicts}" if verdicts else ""))
    page = html_page(claim_page(claim.id))
    yield ("url", f"{{{site.address}{page}}}") if site.address else ("howpublished", _text(page))


def _source(claim: CitedClaim) -> Iterator[tuple[str, str]]:
    source = claim.source
    yield "title", _text(source.title)
    yield "author", _text(source.authors)
    yield "year", str(source.year)
    yield "note", _text(f"{source.locator}; read on {source.retrieved}")
    yield "url", _url(source.url)


def _published(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the fields for the file whose rows a reported claim uses."""
    yield "title", _text(source.title)
    yield "author", _text(source.measured_by)
    yield "year", source.measured_until[:4]
    note = f"{source.repository} at commit {source.commit[:12]}, {source.locator}; {source.licence}"
    yield "note", _text(f"{note}; read on {source.retrieved}")
    yield "url", _url(source.url)


def _url(address: str) -> str:
    return "{" + "".join(f"%{ord(char):02X}" if char in "{}\\`" else char for char in address) + "}"


def _text(value: str) -> str:
    """Return a text in double braces, escaped for BibTeX and LaTeX."""
    return "{{" + "".join(_BIBTEX.get(char, char) for char in one_line(value)) + "}}"


def json_ld(claim: Claim, site: SiteData) -> str:
    """Return a measured claim's data set as JSON-LD in a script element, or nothing without evidence."""
    sessions, page = _sessions(claim, site), PageContext(claim_page(claim.id))
    if not sessions:
        return ""
    found: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": claim.id,
        "description": f"Raw samples and verdicts of claim {claim.id}: {one_line(claim.statement)}",
        "license": _LICENCE,
        "creator": {"@type": "Organization", "name": _AUTHORS},
        "dateModified": max(session.head.date for session in sessions),
        "isAccessibleForFree": True,
        "distribution": [
            _download(site, page, claim_file(claim.id, ".csv"), "text/csv"),
            *(_download(site, page, evidence_file(session.path), "application/json") for session in sessions),
        ],
    }
    if site.address:
        found["url"] = site.address + html_page(claim_page(claim.id))
    safe = json.dumps(found, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/ld+json">{safe}</script>'


def _download(site: SiteData, page: PageContext, path: str, kind: str) -> dict[str, str]:
    address = f"{site.address}{path}" if site.address else page.href(path)
    return {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": address}


def _sessions(claim: Claim, site: SiteData) -> list[Session]:
    """Return the session that counts on each class."""
    return [found.session for found in site.board.standings[claim.id].values() if found.session]
