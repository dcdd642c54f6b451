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
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

from headroom.prose.calculations import SCHEME as CALC
from headroom.prose.targets import METHODS
from headroom.site import (
    code_tokens,
    formula_tooltips,
    glossary,
    hardware_switch,
    known_as,
    links,
    methods_table,
    page_actions,
    ran_on,
    spared,
    tables,
    unproven,
    verified,
)
from headroom.site.addresses import moved
from headroom.site.context import PageContext, SiteData
from headroom.site.finding import start

# MkDocs counts the warnings below its own logger; with --strict they fail the build.
_LOG = logging.getLogger("mkdocs.headroom")
_BEFORE_SNIPPETS = 40  # pymdownx.snippets replaces its includes at 32
_BEFORE_HTML = 22  # Python-Markdown takes lines of HTML away at 20, pymdownx.superfences fences at 25
_BEFORE_INLINE = 21  # Python-Markdown applies inline patterns at 20
_BEFORE_INLINE_HTML = 100  # inline HTML is taken away at 90, inline code at 190
_AFTER_RELATIVE_PATHS = -1  # which would turn a link to Markdown into one to the page that is made of it
_BEFORE_RELATIVE_PATHS = 4  # MkDocs turns links to source files into addresses at 0; the table of contents is made at 5


_SCHEMES = (unproven.HREF, ran_on.SCHEME, formula_tooltips.SCHEME, CALC, "claim:", "fact:")
"""What the addresses of links begin with that become what a reader sees here."""


class HeadroomExtension(Extension):
    """Resolves `claim:` and `fact:` links and says where snippets ran."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "root": [".", "The top of the tree, read where no data is given"],
            "site": ["", "The SiteData to use"],
            "page": ["", "A callable that returns the PageContext of the page that is being rendered"],
            "actions": [
                False,
                "Whether a page begins with links to its source and to its Markdown beside it",
            ],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name that Python-Markdown calls
        """Register the processors."""
        lines: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
            "ran-on": (ran_on.with_marks, _BEFORE_SNIPPETS),
            "made": (self._with_made_parts, _BEFORE_SNIPPETS),
            "formulas": (self._with_formulas, _BEFORE_SNIPPETS),
            "moved": (lambda found: moved.with_moved(found, self._site(), self._page()), _BEFORE_SNIPPETS),
            "unproven": (unproven.with_marks, _BEFORE_HTML),
        }
        for name, (change, priority) in lines.items():
            md.preprocessors.register(_Lines(md, change), f"headroom-{name}", priority)
        md.preprocessors.register(spared.Plots(md), "headroom-plots", _BEFORE_HTML)
        md.treeprocessors.register(spared.PlainTexts(md), "headroom-plain", _BEFORE_INLINE)
        spared.highlight_once(md)
        md.inlinePatterns.register(unproven.Mark(unproven.PATTERN, md), "headroom-unproven", _BEFORE_INLINE_HTML)
        elements: dict[str, Callable[[Element], None]] = {
            "known-as": lambda root: known_as.add(root, self._site(), self._page()),
            "links": self._resolve_links,
            "terms": lambda root: glossary.explain(root, self._site(), self._page()),
            "corners": tables.free_corners,
        }
        for name, act in elements.items():
            md.treeprocessors.register(_Elements(md, act), f"headroom-{name}", _BEFORE_RELATIVE_PATHS)
        if self.getConfig("actions"):
            actions = _Elements(md, lambda root: page_actions.add(root, self._site(), self._page()))
            md.treeprocessors.register(actions, "headroom-actions", _AFTER_RELATIVE_PATHS)
        md.postprocessors.register(_Html(md, ran_on.with_links), "headroom-places", 0)
        md.postprocessors.register(_Html(md, code_tokens.without_plain), "headroom-tokens", 0)

    def _site(self) -> SiteData:
        """The data to use. It is read when a page is rendered: generators load extensions only to try them."""
        if not self.getConfig("site"):
            self.setConfig("site", SiteData.load(self.getConfig("root")))
        found = self.getConfig("site")
        assert isinstance(found, SiteData)
        return found

    def _page(self) -> PageContext:
        """The page that is being rendered."""
        found = (self.getConfig("page") or PageContext)()
        assert isinstance(found, PageContext)
        return found

    def _with_made_parts(self, lines: list[str]) -> list[str]:
        """The lines of a page, with what is made from records in the place of the empty links that stand for it."""
        if not any(METHODS in line or start.SCHEME in line for line in lines):
            return lines  # no data need be read
        found = methods_table.with_tables(lines, self._site(), self._page())
        return start.with_parts(found, self._site(), self._page())

    def _with_formulas(self, lines: list[str]) -> list[str]:
        """The lines of a page, each `calc:` link with its formula and the numbers in it."""
        return formula_tooltips.with_formulas(lines, self._site, self._page())

    def _resolve_links(self, root: Element) -> None:
        """Turn the links to claims, facts and runs into what a reader sees, and say below the title what they show."""
        page = self._page()
        ours = [
            (parent, link, href)
            for parent in root.iter()
            for link in parent.findall("a")
            if (href := link.get("href", "")).startswith(_SCHEMES)
        ]
        for parent, link, href in ours:
            try:
                self._resolve(parent, link, href)
            except (ValueError, LookupError) as error:
                _LOG.warning("Doc file '%s' contains a link '%s': %s", page.path, href, error)
        if not page.fixed and hardware_switch.linked(root):  # else no data need be read
            hardware_switch.add(root, self._site(), page)
        if used := verified.used(href for _, _, href in ours):
            verified.insert(root, used, self._site(), page)

    def _resolve(self, parent: Element, link: Element, href: str) -> None:
        if href == unproven.HREF:
            unproven.fill(link)
        elif href.startswith(ran_on.SCHEME):
            ran_on.fill(parent, link, self._site(), self._page())
        elif href.startswith((formula_tooltips.SCHEME, CALC)):
            formula_tooltips.fill(link)
        else:
            links.resolve(link, self._site(), self._page())


class _Lines(Preprocessor):
    """Changes the lines of a page before they are parsed."""

    def __init__(self, md: Markdown, change: Callable[[list[str]], list[str]]) -> None:
        super().__init__(md)
        self.change = change

    def run(self, lines: list[str]) -> list[str]:
        return self.change(lines)


class _Elements(Treeprocessor):
    """Changes the elements of a page."""

    def __init__(self, md: Markdown, act: Callable[[Element], None]) -> None:
        super().__init__(md)
        self.act = act

    def run(self, root: Element) -> None:
        self.act(root)


class _Html(Postprocessor):
    """Changes the HTML of a page at the end."""

    def __init__(self, md: Markdown, change: Callable[[str], str]) -> None:
        super().__init__(md)
        self.change = change

    def run(self, text: str) -> str:
        return self.change(text)


def makeExtension(**options: Any) -> HeadroomExtension:  # noqa: N802 - the name that Python-Markdown calls
    """What Python-Markdown calls to load the extension by its name."""
    return HeadroomExtension(**options)
