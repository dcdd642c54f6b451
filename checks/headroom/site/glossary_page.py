"""Render the glossary page, and link the first use of each term on other pages."""

import re
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from headroom.io.markdown_escape import text
from headroom.pages.glossary_terms import key, owners, pattern
from headroom.pages.old_pages import GLOSSARY
from headroom.records.terms import Term
from headroom.site.site_data import PageContext, SiteData

_HEAD = """---
title: Glossary
description: What the words of these guides mean
---

# Glossary

The guides underline a term with dots where they first use it. Hover over the term, focus it or follow its link."""
_UNLINKED_TAGS = {
    "a",
    "abbr",
    "code",
    "pre",
    "script",
    "style",
    "svg",
    "button",
    "select",
    "label",
    "summary",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
}
"""Elements in which no term is linked: links, code, controls and headings."""
_UNLINKED_FOLDERS = ("claims/", "contribute/")
"""Folders whose pages link no terms."""


def render(site: SiteData) -> str:
    """Return the glossary as Markdown with front matter."""
    page, terms = PageContext(GLOSSARY), site.tree.glossary
    found = sorted(terms, key=lambda name: terms[name].name.lower())
    return "\n\n".join([_HEAD, *(part for name in found for part in _entry(name, terms[name], site, page))]) + "\n"


def _entry(name: str, term: Term, site: SiteData, page: PageContext) -> Iterator[str]:
    yield f"## {text(term.name)} {{ #{name} }}"
    places = (f"[{text(_place(site, section))}]({page.href(section)})" for section in term.see)
    also = f"Also: {', '.join(map(text, term.also))}." if term.also else ""
    see = f"See {', '.join(places)}." if term.see else ""
    yield " ".join(filter(None, [_linked(name, term, site.tree.glossary), see, also]))


def _linked(name: str, term: Term, terms: Mapping[str, Term]) -> str:
    """Return a definition with links to the other terms that it uses."""
    owner = owners(terms)
    parts, end = [], 0
    for match in pattern(terms.values()).finditer(term.means):
        other = owner[key(match[0])]
        if other != name:
            parts += [_spaced(term.means[end : match.start()]), f"[{text(match[0])}](#{other})"]
            end = match.end()
    return "".join([*parts, _spaced(term.means[end:])])


def _spaced(part: str) -> str:
    """Escape part of a text for Markdown, and keep the spaces at its ends."""
    return " " * part.startswith(" ") + text(part) + " " * (part.endswith(" ") and part != " ")


def _place(site: SiteData, section: str) -> str:
    """Return the heading of a section, or the title of its page."""
    path, _, anchor = section.partition("#")
    heading = re.compile(rf"^#+ (?P<title>.+?) *\\{{ ?#{re.escape(anchor)} ?\\}}$", re.MULTILINE)
    found = (heading.search(page.markdown) for page in site.pages if page.path == f"docs/{path}")
    return next((match["title"] for match in found if match), site.title(path))


def explain(root: Element, site: SiteData, page: PageContext) -> None:
    """Link the first use of each term on a page to the glossary, with its definition as title."""
    terms = site.tree.glossary
    if terms and page.path != GLOSSARY and not page.path.startswith(_UNLINKED_FOLDERS):
        _TermLinker(terms, page).link_terms(root)


class _TermLinker:
    """Link each term once on one page."""

    def __init__(self, terms: Mapping[str, Term], page: PageContext) -> None:
        self._page, self._terms = page, terms
        self._pattern = pattern(terms.values())
        self._owner = owners(terms)
        self._done: set[str] = set()

    def link_terms(self, parent: Element) -> None:
        """Link the terms in an element and its children, in reading order."""
        if parent.tag in _UNLINKED_TAGS or "data-no-terms" in parent.attrib:
            return
        children = list(parent)
        parent.text, first = self._split(parent.text)
        parent[:0] = first
        for child in children:
            self.link_terms(child)
            child.tail, links = self._split(child.tail)
            place = list(parent).index(child) + 1
            parent[place:place] = links

    def _split(self, prose: str | None) -> tuple[str | None, list[Element]]:
        """Split a text at its new terms; return the text before the first one, and a link per term."""
        before, end = prose, 0
        links: list[Element] = []
        for match in self._pattern.finditer(prose or ""):
            name = self._owner[key(match[0])]
            if name in self._done:
                continue
            self._done.add(name)
            between = (prose or "")[end : match.start()]
            if links:
                links[-1].tail = between
            else:
                before = between
            links.append(self._link(name, match[0]))
            end = match.end()
        if links:
            links[-1].tail = (prose or "")[end:]
        return before, links

    def _link(self, name: str, word: str) -> Element:
        href = self._page.href(f"{GLOSSARY}#{name}")
        link = Element("a", {"class": "term", "href": href, "title": self._terms[name].means})
        link.text = word
        return link
