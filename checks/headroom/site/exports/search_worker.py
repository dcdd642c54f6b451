"""Correct the key by which the theme's search worker (lunr) shares the nodes of its word tree."""

import re
from pathlib import Path
from typing import Final

_KEY: Final = re.compile(r"(TokenSet\.prototype\.toString=function\(\)\{.{0,250}?(\w)=\2\+\w\+\w\.id)(?=\})")
WORKERS: Final = "assets/javascripts/workers"


def corrected(script: str) -> str:
    """Return a worker's script in which a node's key has a comma behind each edge.

    lunr joins the letter and the target of each edge without one. Two nodes can then have one key, such as the edges
    "1" to 12 and "3" to 4, and "1" to 1 and "2" to 34. The tree shares them, has words that the index lacks, and a
    search that meets such a word finds nothing.

    Raises:
        ValueError: the script does not have the key once.
    """
    changed, count = _KEY.subn(r'\1+","', script)
    if count != 1:
        raise ValueError(
            f"the search worker joins the keys of its word tree in {count} places; correct search_worker.py"
        )
    return changed


def correct(site: Path) -> None:
    """Correct the search workers of a built site."""
    for path in (site / WORKERS).glob("search.*.min.js"):
        path.write_text(corrected(path.read_text("utf-8")), "utf-8")
