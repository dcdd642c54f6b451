"""Weight the search index, and add methods' names and symptoms and quoted messages to it.

The theme multiplies the score of a page's entry by up to five, and of a section's by two, so a section that answers a
query would rank behind its page. These weights correct that.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from headroom.site import planned
from headroom.site.exports.error_texts import error_texts
from headroom.site.site_data import SiteData, claim_page, html_page

FIELDS: Final = {"title": 8.0, "text": 1.0, "names": 10.0}
"""How much a match counts in each field; ``names`` has titles, quoted messages and the words of methods' records."""
_PAGE: Final = 0.7
_FOLDERS: Final = {"claims": 0.4, "contribute": 0.4, "tools": 2.2, html_page(planned.PAGE): 1.8}
"""The weight of a folder or page; planned guides rank first, so that readers see what is missing. Tools are few."""
_UNMEASURED = r'<p><span class="badge badge-unmeasured">[^<]*</span>[^<]*</p>'
_LEFT_OUT = re.compile(
    rf"<figure [^>]*data-search-exclude.*?</figure>|<table\b.*?</table>|{_UNMEASURED}|<h2 data-search-exclude.*",
    re.DOTALL,
)
"""Parts of a claim's page: plot, tables, hardware without a result, and all from the first excluded section."""
_DRAWN = re.compile(r"<text\b[^>]*>.*?</text>", re.DOTALL)
"""A label in a picture; its title and description say the same in sentences."""
_MARKUP = re.compile(r"<[^>]*>|&\w+;")
_WORD = re.compile(r"[^\W_]+")


def with_boosts(index: Mapping[str, Any], site: SiteData) -> dict[str, Any]:
    """Return the theme's index with a weight, the methods' names and the quoted messages for each entry.

    A section whose anchor is that of the page's title has no entry of its own, so its names go to the page's entry.
    """
    names: dict[str, list[str]] = {}
    entries = {entry["location"] for entry in index["docs"]}
    methods = site.tree.methods.values()
    named = [(method.section, (method.name, *method.aliases, *method.symptoms)) for method in methods]
    for section, texts in (*named, *error_texts(site.pages).items()):
        place = address(section)
        place = place if place in entries else place.partition("#")[0]
        names.setdefault(place, []).extend(texts)
    config = {**index["config"], "fields": {name: {"boost": boost} for name, boost in FIELDS.items()}}
    return {**index, "config": config, "docs": [_entry(entry, names) for entry in index["docs"]]}


def trim_search_entry(search: Any, site: SiteData) -> None:
    """Index pages without the labels of their pictures, and only the searched part of claim pages."""
    add, claims = search.add_entry_from_context, {claim_page(name) for name in site.tree.claims}

    def trimmed(page: Any) -> None:
        whole = page.content
        page.content = _DRAWN.sub("", searched(whole) if page.file.src_uri in claims else whole)
        add(page)
        page.content = whole

    search.add_entry_from_context = trimmed


def searched(html: str) -> str:
    """Return a claim page's HTML without the parts excluded from search."""
    return _LEFT_OUT.sub("", html)


def address(section: str) -> str:
    """Return the site's address of a section of a source file."""
    return re.sub(r"\.(md|ipynb)(?=#|$)", ".html", section)


def _entry(entry: Mapping[str, Any], names_of: Mapping[str, list[str]]) -> dict[str, Any]:
    place = entry["location"]
    texts = names_of.get(place, [])
    folder = re.split("[/#]", place)[0]
    whole = texts if folder == "claims" else (entry["title"], *texts)  # nobody types a claim's whole sentence
    names = [word for text in texts for word in _words(text)] + [_one_word(text) for text in whole]
    weight = _FOLDERS.get(folder, 1.0) * (1.0 if "#" in place or texts else _PAGE)
    return {**entry, "names": " ".join(dict.fromkeys(names)), "boost": round(weight, 3)}


def _words(text: str) -> list[str]:
    return _WORD.findall(_MARKUP.sub(" ", text).lower())


def _one_word(text: str) -> str:
    """Return a text as one word with the prefix ``zz``, which no other word has.

    The search script adds the whole query as such a word, so entries with exactly this name, flag or sentence rank
    before entries that contain its words somewhere.
    """
    return f"zz{''.join(_words(text))}"
