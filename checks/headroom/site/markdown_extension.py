"""The Python-Markdown extension: resolve claim and fact links, and insert the parts made from records.

It works in any generator that uses Python-Markdown. Without a `page` option, links are relative to the top of the site.
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

from headroom.pages.calculations import SCHEME as CALC
from headroom.pages.estimate_targets import SCHEME as ESTIMATE
from headroom.site import (
    claim_links,
    code_tokens,
    formula_tooltips,
    freshness_banner,
    generated_parts,
    glossary_page,
    hardware_switch,
    method_aliases,
    page_actions,
    picture_links,
    predicted_figures,
    ran_on,
    table_markup,
    unmeasured_marks,
)
from headroom.site.addresses import redirects
from headroom.site.site_data import PageContext, SiteData

# With --strict, MkDocs fails the build on warnings of this logger.
_LOG = logging.getLogger("mkdocs.headroom")
_BEFORE_SNIPPETS = 40  # pymdownx.snippets replaces includes at 32
_BEFORE_HTML = 22  # Python-Markdown removes HTML blocks at 20, pymdownx.superfences fences at 25
_BEFORE_INLINE_HTML = 100  # Python-Markdown removes inline HTML at 90, inline code at 190
_AFTER_RELATIVE_PATHS = -1  # which would turn a link to a .md file into one to its page
_BEFORE_RELATIVE_PATHS = 4  # MkDocs resolves relative links at 0; the table of contents is built at 5


_FIGURES = (formula_tooltips.SCHEME, CALC, ESTIMATE)
_SCHEMES = (unmeasured_marks.HREF, ran_on.SCHEME, *_FIGURES, predicted_figures.SCHEME, "claim:", "fact:")
"""What the addresses of links begin with that become what a reader sees here."""


class HeadroomExtension(Extension):
    """Resolve `claim:` and `fact:` links, and say where snippets ran."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "root": [".", "The root of the tree to read if no site is given"],
            "site": ["", "The SiteData to use"],
            "page": ["", "A callable that returns the current page's PageContext"],
            "actions": [
                False,
                "Whether to add links to a page's source and Markdown",
            ],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Register the processors."""
        lines: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
            "ran-on": (ran_on.with_marks, _BEFORE_SNIPPETS),
            "made": (self._with_made_parts, _BEFORE_SNIPPETS),
            "formulas": (self._with_formulas, _BEFORE_SNIPPETS),
            "moved": (lambda found: redirects.with_moved(found, self._site(), self._page()), _BEFORE_SNIPPETS),
            "unproven": (unmeasured_marks.with_marks, _BEFORE_HTML),
        }
        for name, (change, priority) in lines.items():
            md.preprocessors.register(_Lines(md, change), f"headroom-{name}", priority)
        md.inlinePatterns.register(
            unmeasured_marks.Mark(unmeasured_marks.PATTERN, md), "headroom-unproven", _BEFORE_INLINE_HTML
        )
        elements: dict[str, Callable[[Element], None]] = {
            "known-as": lambda root: method_aliases.add(root, self._site(), self._page()),
            "pictures": lambda root: self._draw_pictures(root, md),
            "links": self._resolve_links,
            "terms": lambda root: glossary_page.explain(root, self._site(), self._page()),
            "empty-headers": table_markup.clear_empty_headers,
            "wide-tables": lambda root: table_markup.label_wide_tables(root, md.htmlStash.rawHtmlBlocks),
        }
        for name, act in elements.items():
            md.treeprocessors.register(_Elements(md, act), f"headroom-{name}", _BEFORE_RELATIVE_PATHS)
        if self.getConfig("actions"):
            actions = _Elements(md, lambda root: page_actions.add(root, self._site(), self._page()))
            md.treeprocessors.register(actions, "headroom-actions", _AFTER_RELATIVE_PATHS)
        md.postprocessors.register(_Html(md, ran_on.with_links), "headroom-places", 0)
        md.postprocessors.register(_Html(md, code_tokens.without_plain), "headroom-tokens", 0)

    def _site(self) -> SiteData:
        """Return the site's data, read on first use because generators also load extensions only to test them."""
        if not self.getConfig("site"):
            self.setConfig("site", SiteData.load(self.getConfig("root")))
        found = self.getConfig("site")
        assert isinstance(found, SiteData)
        return found

    def _page(self) -> PageContext:
        """Return the page that is being rendered."""
        found = (self.getConfig("page") or PageContext)()
        assert isinstance(found, PageContext)
        return found

    def _with_made_parts(self, lines: list[str]) -> list[str]:
        """Replace the empty links that stand alone on a line with the parts made from records."""
        if not any(scheme in line for scheme in generated_parts.SCHEMES for line in lines):
            return lines  # saves reading the data
        return generated_parts.with_parts(lines, self._site(), self._page())

    def _with_formulas(self, lines: list[str]) -> list[str]:
        """Return the lines of a page, each calculated or predicted figure with its formula."""
        return formula_tooltips.with_formulas(lines, self._site, self._page())

    def _draw_pictures(self, root: Element, md: Markdown) -> None:
        """Draw the page's pictures."""
        if not any(image.get("src", "").startswith(picture_links.SCHEME) for image in root.iter("img")):
            return  # saves reading the data
        try:
            picture_links.insert(root, self._site(), self._page(), md.htmlStash.store)
        except (ValueError, LookupError) as error:
            _LOG.warning("Doc file '%s' has a picture that cannot be drawn: %s", self._page().path, error)

    def _resolve_links(self, root: Element) -> None:
        """Resolve the page's links, then add the hardware switch and the freshness banner."""
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
        if not page.fixed and hardware_switch.linked(root):  # saves reading the data
            hardware_switch.add(root, self._site(), page)
        if used := freshness_banner.used(href for _, _, href in ours):
            freshness_banner.insert(root, used, self._site(), page)

    def _resolve(self, parent: Element, link: Element, href: str) -> None:
        if href == unmeasured_marks.HREF:
            unmeasured_marks.fill(link)
        elif href.startswith(ran_on.SCHEME):
            ran_on.fill(parent, link, self._site(), self._page())
        elif href.startswith(predicted_figures.SCHEME):
            predicted_figures.fill(parent, link, self._site(), self._page())
        elif href.startswith(_FIGURES):
            formula_tooltips.fill(link)
        else:
            claim_links.resolve(link, self._site(), self._page())


class _Lines(Preprocessor):
    """A preprocessor that changes the lines of a page."""

    def __init__(self, md: Markdown, change: Callable[[list[str]], list[str]]) -> None:
        super().__init__(md)
        self.change = change

    def run(self, lines: list[str]) -> list[str]:
        return self.change(lines)


class _Elements(Treeprocessor):
    """A tree processor that changes the elements of a page."""

    def __init__(self, md: Markdown, act: Callable[[Element], None]) -> None:
        super().__init__(md)
        self.act = act

    def run(self, root: Element) -> None:
        self.act(root)


class _Html(Postprocessor):
    """A postprocessor that changes the HTML of a page."""

    def __init__(self, md: Markdown, change: Callable[[str], str]) -> None:
        super().__init__(md)
        self.change = change

    def run(self, text: str) -> str:
        return self.change(text)


def makeExtension(**options: Any) -> HeadroomExtension:  # noqa: N802 - Python-Markdown's name
    """Return the extension; Python-Markdown calls this to load it by name."""
    return HeadroomExtension(**options)
