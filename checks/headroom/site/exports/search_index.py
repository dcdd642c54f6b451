"""What the search of the site finds first: the theme indexes rendered sections, and this gives them their weights.

A section whose method's record has the words of a query comes before one that only uses them. The theme multiplies the
score of a page's own entry by up to five, and that of a section by two: without weights the section that answers would
stand behind its page.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from headroom.records.methods import Method
from headroom.site.context import SiteData

FIELDS: Final = {"title": 4.0, "text": 1.0, "names": 10.0}
"""How much a word counts, by where it stands. ``names`` is ours: what the records of methods say."""
_PAGE: Final = 0.4
_FOLDERS: Final = {"claims": 0.4, "contribute": 0.4}
_WORD = re.compile(r"[^\W_]+")


def weighed(index: Mapping[str, Any], site: SiteData) -> dict[str, Any]:
    """The theme's index, with the names of methods at their sections and a weight for every entry."""
    names = _names(site)
    config = {**index["config"], "fields": {name: {"boost": boost} for name, boost in FIELDS.items()}}
    return {**index, "config": config, "docs": [_entry(entry, names) for entry in index["docs"]]}


def address(section: str) -> str:
    """Where a section of a source file stands on the site."""
    return re.sub(r"\.(md|ipynb)(?=#|$)", ".html", section)


def _names(site: SiteData) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for method in site.tree.methods.values():
        found.setdefault(address(method.section), []).extend(_words(method))
    return {place: " ".join(dict.fromkeys(words)) for place, words in found.items()}


def _words(method: Method) -> list[str]:
    """Every word of what a method is called and of its symptoms, and each of these as one word, behind ``zz``.

    The script of the search asks for the whole query as such a word as well. So what is typed as the record has it,
    ``adamw_8bit`` or a sentence, is found before what has the same words somewhere.
    """
    said = [_WORD.findall(text.lower()) for text in (method.name, *method.aliases, *method.symptoms)]
    return [word for words in said for word in (*words, f"zz{''.join(words)}")]


def _entry(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    place = entry["location"]
    weight = _FOLDERS.get(place.partition("/")[0], 1.0) * (1.0 if "#" in place else _PAGE)
    found = {**entry, "boost": weight}
    return {**found, "names": names[place]} if place in names else found
