"""Redirect old addresses: a page per moved page, and a list of the anchors that have left a page."""

import json
import posixpath
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path, PurePosixPath

from headroom.io.markdown_escape import text
from headroom.pages.old_pages import OldPage
from headroom.site import planned
from headroom.site.site_data import PageContext, SiteData

Urls = Callable[[str], str]
"""Return the site's path of a source file below docs/."""

_PAGE = (Path(__file__).parent / "redirect.html").read_text(encoding="utf-8")
_MOVED = '<h1>This page has moved</h1>\n<p><code>NAME</code> is now <a href="TARGET">TITLE</a>.</p>'
_UNWRITTEN = (
    "<h1>This guide is not written yet</h1>\n"
    '<p>No page covers <code>NAME</code> yet. <a href="TARGET">TITLE</a> says what to read in the meantime.</p>'
)


def files(site: SiteData, urls: Urls) -> dict[str, str]:
    """Return a redirecting page for each old address, by its path on the site."""
    gone = {name: old for name, old in site.old_pages.items() if old.target}
    return {f"{name}.html": _redirect(name, old, site, urls) for name, old in gone.items()}


def _redirect(name: str, old: OldPage, site: SiteData, urls: Urls) -> str:
    """Return a page that redirects by script to the new anchor, without scripts to the page, or by a link."""

    def href(target: str) -> str:
        page, _, anchor = target.partition("#")
        found = posixpath.relpath(urls(page) or ".", posixpath.dirname(name) or ".")
        return f"{found}#{anchor}" if anchor else found

    anchors = {anchor: href(target) for anchor, target in sorted(old.anchors.items())}
    guide = planned.guides(site).get(old.target)
    return (
        _PAGE.replace("NOTICE", _UNWRITTEN if guide else _MOVED)
        .replace("NAME", escape(name))
        .replace("TITLE", escape(guide or site.title(old.target.partition("#")[0])))
        .replace("TARGET", escape(href(old.target)))
        .replace("ANCHORS", json.dumps(anchors).replace("<", "\\u003c"))
    )


def with_moved(lines: Sequence[str], site: SiteData, page: PageContext) -> list[str]:
    """Append to a page's lines a list of the anchors that have left it, each with a link to its new place."""
    old = site.old_pages.get(PurePosixPath(page.path).with_suffix("").as_posix())
    return [*lines, *_list(old, site, page)] if old and old.anchors else [*lines]


def _list(old: OldPage, site: SiteData, page: PageContext) -> Iterator[str]:
    yield from ("", '<div class="moved" data-search-exclude markdown>', "", "Moved from this page:", "")
    for anchor, target in sorted(old.anchors.items()):
        title = site.title(target.partition("#")[0])
        yield f"- [{text(anchor)}]({page.href(target)}){{ #{anchor} }} in {text(title)}"
    yield from ("", "</div>")
