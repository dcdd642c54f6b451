"""Guides that are not written yet: the sections of one page, which the start page, the search and old addresses use."""

import re
from typing import Final

from headroom.site.site_data import SiteData

PAGE: Final = "not-written-yet.md"
"""The page that lists them, below docs/: a section per guide, with the old addresses that lead to it as ``was``."""
_SECTION = re.compile(r"^## (?P<title>.+?) \{#(?P<anchor>[\w-]+)\}$", re.MULTILINE)


def guides(site: SiteData) -> dict[str, str]:
    """Return the title of each guide that is not written yet by its section, as ``not-written-yet.md#inference``."""
    texts = [page.markdown for page in site.pages if page.path == f"docs/{PAGE}"]
    return {f"{PAGE}#{found['anchor']}": found["title"] for text in texts for found in _SECTION.finditer(text)}
