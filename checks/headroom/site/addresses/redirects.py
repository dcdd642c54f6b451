"""What leads from old addresses to where things stand today: pages that send on, and lists of what has left a page."""

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
"""The address of a source file below docs/ on the site, relative to its top."""

_PAGE = (Path(__file__).parent / "redirect.html").read_text(encoding="utf-8")
_MOVED = '<h1>This page has moved</h1>\n<p>What <code>NAME</code> was about stands at <a href="TARGET">TITLE</a>.</p>'
_UNWRITTEN = (
    "<h1>This guide is not written yet</h1>\n"
    '<p>What <code>NAME</code> was about is not covered. <a href="TARGET">TITLE</a> says what is here meanwhile.</p>'
)


def files(site: SiteData, urls: Urls) -> dict[str, str]:
    """A page that sends on for every old address of a page, by its path on the site."""
    gone = {name: old for name, old in site.old_pages.items() if old.target}
    return {f"{name}.html": _sender(name, old, site, urls) for name, old in gone.items()}


def _sender(name: str, old: OldPage, site: SiteData, urls: Urls) -> str:
    """A page that leads on by script with its anchor, else by itself, else by a link that is clicked."""

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
    """The lines of a page, and below them a list of the anchors that have left it, each with where it stands now."""
    old = site.old_pages.get(PurePosixPath(page.path).with_suffix("").as_posix())
    return [*lines, *_list(old, site, page)] if old and old.anchors else [*lines]


def _list(old: OldPage, site: SiteData, page: PageContext) -> Iterator[str]:
    yield from ("", '<div class="moved" data-search-exclude markdown>', "", "Moved from this page:", "")
    for anchor, target in sorted(old.anchors.items()):
        title = site.title(target.partition("#")[0])
        yield f"- [{text(anchor)}]({page.href(target)}){{ #{anchor} }} in {text(title)}"
    yield from ("", "</div>")
