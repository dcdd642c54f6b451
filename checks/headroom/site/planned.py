"""Guides that are planned but not written, read from the sections of one page."""

import re
from typing import Final

from headroom.site.site_data import SiteData

PAGE: Final = "not-written-yet.md"
"""The page that lists them, below docs/; the front matter's ``was`` holds the old addresses that lead to it."""
_SECTION = re.compile(r"^## (?P<title>.+?) \{#(?P<anchor>[\w-]+)\}$", re.MULTILINE)


def guides(site: SiteData) -> dict[str, str]:
    """Return the titles of planned guides by section, for example ``not-written-yet.md#inference``."""
    texts = [page.markdown for page in site.pages if page.path == f"docs/{PAGE}"]
    return {f"{PAGE}#{found['anchor']}": found["title"] for text in texts for found in _SECTION.finditer(text)}
