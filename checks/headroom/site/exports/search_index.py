"""What the search of the site finds first: the theme indexes rendered sections, and this gives them their weights.

A section whose method's record has the words of a query comes before one that only uses them. The theme multiplies the
score of a page's own entry by up to five, and that of a section by two: without weights the section that answers would
stand behind its page.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from headroom.site import planned
from headroom.site.site_data import SiteData, claim_page, html_page

FIELDS: Final = {"title": 8.0, "text": 1.0, "names": 10.0}
"""How much a word counts, by where it stands. ``names`` is ours: what the records of methods say, and every title."""
_PAGE: Final = 0.7
_FOLDERS: Final = {"claims": 0.4, "contribute": 0.4, html_page(planned.PAGE): 1.8}
"""The weight of a folder, or of a page at the top. Who looks for a guide that is not written yet is told so first."""
_LEFT_OUT = re.compile(r"<figure [^>]*data-search-exclude.*?</figure>|<h2 data-search-exclude.*", re.DOTALL)
"""Of a claim's page: its plot, and from the first section that the search leaves out on all of them."""
_MARKUP = re.compile(r"<[^>]*>|&\w+;")
_WORD = re.compile(r"[^\W_]+")


def with_boosts(index: Mapping[str, Any], site: SiteData) -> dict[str, Any]:
    """The theme's index, with the names of what each entry tells of and a weight for it."""
    said: dict[str, list[str]] = {}
    for method in site.tree.methods.values():
        said.setdefault(address(method.section), []).extend((method.name, *method.aliases, *method.symptoms))
    config = {**index["config"], "fields": {name: {"boost": boost} for name, boost in FIELDS.items()}}
    return {**index, "config": config, "docs": [_entry(entry, said) for entry in index["docs"]]}


def trim_search_entry(search: Any, site: SiteData) -> None:
    """Let the theme's search index read of a claim's page what it makes an entry of, which is a small part of it."""
    add, claims = search.add_entry_from_context, {claim_page(name) for name in site.tree.claims}

    def hastened(page: Any) -> None:
        whole = page.content
        if page.file.src_uri in claims:
            page.content = searched(whole)
        add(page)
        page.content = whole

    search.add_entry_from_context = hastened


def searched(html: str) -> str:
    """The HTML of a claim's page without what the search leaves out; the theme makes the same entry of it."""
    return _LEFT_OUT.sub("", html)


def address(section: str) -> str:
    """Where a section of a source file stands on the site."""
    return re.sub(r"\.(md|ipynb)(?=#|$)", ".html", section)


def _entry(entry: Mapping[str, Any], said: Mapping[str, list[str]]) -> dict[str, Any]:
    place = entry["location"]
    texts = said.get(place, [])
    names = [word for text in texts for word in _words(text)] + [_one_word(text) for text in (entry["title"], *texts)]
    weight = _FOLDERS.get(re.split("[/#]", place)[0], 1.0) * (1.0 if "#" in place else _PAGE)
    return {**entry, "names": " ".join(dict.fromkeys(names)), "boost": weight}


def _words(text: str) -> list[str]:
    return _WORD.findall(_MARKUP.sub(" ", text).lower())


def _one_word(text: str) -> str:
    """A text without spaces and signs, behind ``zz``, which keeps it apart from words that begin alike.

    The script of the search asks for the whole query as such a word, too. So what is typed as a record or a title has
    it, ``adamw_8bit`` or a sentence, is found before what has the same words somewhere.
    """
    return f"zz{''.join(_words(text))}"
