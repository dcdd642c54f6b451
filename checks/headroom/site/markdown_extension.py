"""The Python-Markdown extension: links to claims and facts, parts made from records, lines under snippets, marks.

It works in any generator that renders with Python-Markdown. The generator says which page is being rendered; one that
cannot gets links relative to the top of the site.
"""

import logging
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from headroom.prose.targets import METHODS
from headroom.site import hardware_switch, links, methods_table, ran_on, tables, unproven, verified
from headroom.site.context import PageContext, SiteData
from headroom.site.finding import start

# MkDocs counts the warnings below its own logger; with --strict they fail the build.
_LOG = logging.getLogger("mkdocs.headroom")
_BEFORE_SNIPPETS = 40  # pymdownx.snippets replaces its includes at 32
_BEFORE_HTML = 22  # Python-Markdown takes lines of HTML away at 20, pymdownx.superfences fences at 25
_BEFORE_INLINE_HTML = 100  # inline HTML is taken away at 90, inline code at 190
_BEFORE_RELATIVE_PATHS = 4  # MkDocs turns links to source files into addresses at 0; the table of contents is made at 5


class HeadroomExtension(Extension):
    """Resolves `claim:` and `fact:` links and says where snippets ran."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "root": [".", "The top of the tree, read where no data is given"],
            "site": ["", "The SiteData to use"],
            "page": ["", "A callable that returns the PageContext of the page that is being rendered"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name that Python-Markdown calls
        """Register the processors."""
        page = self.getConfig("page") or PageContext
        md.preprocessors.register(_RanOn(md), "headroom-ran-on", _BEFORE_SNIPPETS)
        md.preprocessors.register(_Tables(md, self._site, page), "headroom-methods", _BEFORE_SNIPPETS)
        md.preprocessors.register(_Unproven(md), "headroom-unproven", _BEFORE_HTML)
        md.inlinePatterns.register(unproven.Mark(unproven.PATTERN, md), "headroom-unproven", _BEFORE_INLINE_HTML)
        md.treeprocessors.register(_Links(md, self._site, page), "headroom-links", _BEFORE_RELATIVE_PATHS)
        md.treeprocessors.register(_Corners(md), "headroom-corners", _BEFORE_RELATIVE_PATHS)

    def _site(self) -> SiteData:
        """The data to use. It is read when a page is rendered: generators load extensions only to try them."""
        if not self.getConfig("site"):
            self.setConfig("site", SiteData.load(self.getConfig("root")))
        found = self.getConfig("site")
        assert isinstance(found, SiteData)
        return found


class _RanOn(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return ran_on.with_marks(lines)


class _Unproven(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return unproven.with_marks(lines)


class _Corners(Treeprocessor):
    def run(self, root: Element) -> None:
        tables.free_corners(root)


class _Tables(Preprocessor):
    def __init__(self, md: Markdown, site: Callable[[], SiteData], page: Callable[[], PageContext]) -> None:
        super().__init__(md)
        self.site, self.page = site, page

    def run(self, lines: list[str]) -> list[str]:
        if not any(METHODS in line or start.SCHEME in line for line in lines):
            return lines  # no data need be read
        found = methods_table.with_tables(lines, self.site(), self.page())
        return start.with_parts(found, self.site(), self.page())


class _Links(Treeprocessor):
    def __init__(self, md: Markdown, site: Callable[[], SiteData], page: Callable[[], PageContext]) -> None:
        super().__init__(md)
        self.site, self.page = site, page

    def run(self, root: Element) -> None:
        page = self.page()
        ours = [
            (parent, link, href)
            for parent in root.iter()
            for link in parent.findall("a")
            if (href := link.get("href", "")).startswith((unproven.HREF, ran_on.SCHEME, "claim:", "fact:"))
        ]
        for parent, link, href in ours:
            try:
                self._resolve(parent, link, page)
            except (ValueError, LookupError) as error:
                _LOG.warning("Doc file '%s' contains a link '%s': %s", page.path, href, error)
        if hardware_switch.linked(root):  # else no data need be read
            hardware_switch.add(root, self.site(), page)
        if used := verified.used(href for _, _, href in ours):
            verified.insert(root, used, self.site(), page)

    def _resolve(self, parent: Element, link: Element, page: PageContext) -> None:
        href = link.get("href", "")
        if href == unproven.HREF:
            unproven.fill(link)
        elif href.startswith(ran_on.SCHEME):
            ran_on.fill(parent, link, self.site(), page)
        elif href.startswith(("claim:", "fact:")):
            links.resolve(link, self.site(), page)


def makeExtension(**options: Any) -> HeadroomExtension:  # noqa: N802 - the name that Python-Markdown calls
    """What Python-Markdown calls to load the extension by its name."""
    return HeadroomExtension(**options)
