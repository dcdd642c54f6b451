"""Convert links to plain Markdown: a claim with its verdict in words, a fact with its source."""

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import quote
from xml.etree.ElementTree import Element

from headroom.io.markdown_escape import one_line
from headroom.io.markdown_escape import text as escaped
from headroom.pages.calculations import formula_of
from headroom.pages.estimate_targets import SCHEME as ESTIMATE
from headroom.pages.link_targets import ClaimTarget, parse_target
from headroom.pages.source import LINK
from headroom.records import MeasuredClaim
from headroom.records.snippet_environments import MAKE
from headroom.site import claim_links, output_fold, ran_on, unmeasured_marks
from headroom.site.as_markdown.plain_text import outside_code
from headroom.site.claims import phrasing, verdict_sentence
from headroom.site.site_data import PageContext, SiteData

_NOTEBOOK = ".ipynb"
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|^#|^/", re.IGNORECASE)


def resolved(text: str, site: SiteData, page: PageContext) -> str:
    """Replace every link by one to a Markdown file or the web; a broken link becomes its text."""

    def replaced(match: re.Match[str], label: str) -> str:
        href = match["href"]
        if href == unmeasured_marks.HREF:
            return "(not measured)"
        if href.startswith(ran_on.SCHEME):
            indent = re.search(r"[ \t]*\Z", match.string[: match.start()])
            return _ran(href, indent[0] if indent else "", site, page)
        if formula_of(href) is not None or href.startswith(ESTIMATE):
            return label
        if href.startswith(("claim:", "fact:")):
            return _resolve(label, href, site, page)
        title = f' "{match["title"]}"' if match["title"] else ""
        return f"[{label}]({_markdown_href(href)}{title})"

    return outside_code(text, LINK, "text", replaced)


def site_relative(text: str, path: str, address: str) -> str:
    """Rewrite a page's relative links to start at the site's address, for a file that joins many pages."""
    folder = posixpath.dirname(path)

    def replaced(match: re.Match[str], label: str) -> str:
        href = match["href"]
        if href.startswith("#"):
            href = f"{address}{path}{href}"
        elif not _ELSEWHERE.match(href):
            href = address + posixpath.normpath(posixpath.join(folder, href))
        title = f' "{match["title"]}"' if match["title"] else ""
        return f"[{label}]({href}{title})"

    return outside_code(text, LINK, "text", replaced)


def _markdown_href(href: str) -> str:
    """Return the link to a page's Markdown version; a notebook's has the ending `.md`."""
    path, hash_, anchor = href.partition("#")
    if path.endswith(_NOTEBOOK) and not _ELSEWHERE.match(path):
        path = path.removesuffix(_NOTEBOOK) + ".md"
    return f"{path}{hash_}{anchor}"


def _resolve(label: str, href: str, site: SiteData, page: PageContext) -> str:
    link = Element("a", {"href": href})
    link.text = label
    try:
        target = parse_target(href)
        claim_links.resolve(link, site, page)
    except (ValueError, LookupError):  # the site's build reports it
        return label
    shown = label or " ".join(f"{escaped(link.text or '')} {''.join(map(_shown, link))}".split())
    address = link.get("href", "")
    if not isinstance(target, ClaimTarget):
        return f'[{label}](<{_safe(address)}> "{escaped(link.get("title", ""))}")'
    badge = "" if target.figure or not label else _verdict(target, link, site, page)
    return f"[{shown}]({address}){badge}"


def _safe(address: str) -> str:
    return quote(address, safe=":/?#[]@!$&'()*+,;=%~")


def _shown(element: Element) -> str:
    """Return an element of a summary as text: figures in bold, badges in brackets."""
    inner = escaped("".join(element.itertext()))
    if element.tag == "br":
        return "; "
    if element.tag == "strong":
        return f"**{inner}** "
    return f"({inner}) " if "badge" in element.get("class", "") else f"{inner} "


def _verdict(target: ClaimTarget, link: Element, site: SiteData, page: PageContext) -> str:
    """Return the verdict of a link's claim in words, for each class, or else its badge."""
    claim = site.tree.claims[target.claim]
    found = list(_findings(claim, site, page)) if isinstance(claim, MeasuredClaim) and not claim.retired else []
    verdict = "; ".join(found) or " ".join(part for part in ("".join(child.itertext()) for child in link) if part)
    return f" ({escaped(verdict)})"


def _findings(claim: MeasuredClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    for name in page.hardware or site.classes_of(claim):
        view = phrasing.view(site, claim, name)
        if view.standing.verdict:
            place = site.class_name(view.source or name)
            yield f"{view.word}: {verdict_sentence.findings(claim, view.standing.verdict.points)}, on {place}"


def _ran(href: str, indent: str, site: SiteData, page: PageContext) -> str:
    """Return the line under a snippet and its last output, in plain Markdown."""
    path, last, _ = ran_on.target(href)
    snippet = site.tree.snippets.get(path.removeprefix("snippets/").removesuffix(".py"))
    if snippet is None:
        return ""
    runs = "".join(f", {escaped(run)}" for run in ran_on.runs(snippet, site))
    if name := snippet.header.environment:
        runs += f"; {_code(MAKE)} builds its environment {name}"
    output = output_fold.of(snippet, site) if last else None
    below = f"\n\n{output_fold.fence(output, indent)}" if output else ""
    return f"Run it: {_code(snippet.command)} ([whole file]({page.href(path)})){runs}{below}"


def _code(value: str) -> str:
    """Return a text as inline code, even if it contains backticks."""
    mark = "`" * (1 + max((len(run) for run in re.findall("`+", value)), default=0))
    space = " " if "`" in value else ""
    return f"{mark}{space}{one_line(value)}{space}{mark}"
