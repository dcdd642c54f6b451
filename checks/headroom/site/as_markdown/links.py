"""Links of our own schemes as links of the web: a claim with its verdict in words, a fact with its source."""

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import quote
from xml.etree.ElementTree import Element

from headroom.escaping import one_line
from headroom.escaping import text as escaped
from headroom.prose.calculations import formula_of
from headroom.prose.pages import LINK
from headroom.prose.targets import ClaimTarget, parse_target
from headroom.records import MeasuredClaim
from headroom.site import links, printed, ran_on, unproven
from headroom.site.as_markdown.markup import outside_code
from headroom.site.claims import sentence, words
from headroom.site.context import PageContext, SiteData

_NOTEBOOK = ".ipynb"
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|^#|^/", re.IGNORECASE)


def resolved(text: str, site: SiteData, page: PageContext) -> str:
    """The text of a page with every link leading to a file beside it or to the web. One that leads nowhere is text."""

    def replaced(match: re.Match[str], label: str) -> str:
        href = match["href"]
        if href == unproven.HREF:
            return "(not measured)"
        if href.startswith(ran_on.SCHEME):
            indent = re.search(r"[ \t]*\Z", match.string[: match.start()])
            return _ran(href, indent[0] if indent else "", site, page)
        if formula_of(href) is not None:
            return label
        if href.startswith(("claim:", "fact:")):
            return _ours(label, href, site, page)
        title = f' "{match["title"]}"' if match["title"] else ""
        return f"[{label}]({_beside(href)}{title})"

    return outside_code(text, LINK, "text", replaced)


def from_the_top(text: str, path: str, address: str) -> str:
    """A page's plain Markdown with links that begin at the top of the site, for a file that holds many pages."""
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


def _beside(href: str) -> str:
    """A link to a page's source, which has a plain one beside it; that of a notebook is Markdown as well."""
    path, hash_, anchor = href.partition("#")
    if path.endswith(_NOTEBOOK) and not _ELSEWHERE.match(path):
        path = path.removesuffix(_NOTEBOOK) + ".md"
    return f"{path}{hash_}{anchor}"


def _ours(label: str, href: str, site: SiteData, page: PageContext) -> str:
    link = Element("a", {"href": href})
    link.text = label
    try:
        target = parse_target(href)
        links.resolve(link, site, page)
    except (ValueError, LookupError):  # the site's build tells of it
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
    """An element of a summary as text: a figure in bold, and the word of a badge in brackets."""
    inner = escaped("".join(element.itertext()))
    if element.tag == "br":
        return "; "
    if element.tag == "strong":
        return f"**{inner}** "
    return f"({inner}) " if "badge" in element.get("class", "") else f"{inner} "


def _verdict(target: ClaimTarget, link: Element, site: SiteData, page: PageContext) -> str:
    """The verdict behind a link, in words: for each class what was found on it, or the word of its badge."""
    claim = site.tree.claims[target.claim]
    found = list(_findings(claim, site, page)) if isinstance(claim, MeasuredClaim) and not claim.retired else []
    said = "; ".join(found) or " ".join(part for part in ("".join(child.itertext()) for child in link) if part)
    return f" ({escaped(said)})"


def _findings(claim: MeasuredClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    for name in page.hardware or site.classes_of(claim):
        view = words.view(site, claim, name)
        if view.standing.verdict:
            place = site.class_name(view.source or name)
            yield f"{view.word}: {sentence.findings(claim, view.standing.verdict.points)}, on {place}"


def _ran(href: str, indent: str, site: SiteData, page: PageContext) -> str:
    """The line under a snippet: its command, its file, where it last ran, and below it what it printed there."""
    path, last, _ = ran_on.target(href)
    snippet = site.tree.snippets.get(path.removeprefix("snippets/").removesuffix(".py"))
    if snippet is None:
        return ""
    runs = "".join(f", {escaped(run)}" for run in ran_on.runs(snippet, site))
    output = printed.of(snippet, site) if last else None
    below = f"\n\n{printed.fence(output, indent)}" if output else ""
    return f"Run it: {_code(snippet.command)} ([whole file]({page.href(path)})){runs}{below}"


def _code(value: str) -> str:
    """Inline code, whatever it holds."""
    mark = "`" * (1 + max((len(run) for run in re.findall("`+", value)), default=0))
    space = " " if "`" in value else ""
    return f"{mark}{space}{one_line(value)}{space}{mark}"
