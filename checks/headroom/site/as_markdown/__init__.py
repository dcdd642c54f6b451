"""A page as plain Markdown: what its reader gets, for a program that reads it or for somebody who copies it.

It is made from the page's source, as its HTML is, and never from its HTML: snippets are included, links of our own
schemes are links of the web with their verdict in words, and neither a note to our checks nor an element is left.
"""

from functools import lru_cache
from pathlib import Path

from markdown import Markdown
from markdown.preprocessors import Preprocessor

from headroom.pages.markdown_syntax import FRONT_MATTER, fenced
from headroom.site import methods_table, ran_on, unmeasured_marks
from headroom.site.as_markdown import containers, link_text, plain_text
from headroom.site.method_finder import start_page
from headroom.site.site_data import PageContext, SiteData


def plain(source: str, site: SiteData, page: PageContext) -> str:
    """The page in plain Markdown, without front matter.

    Args:
        source: its Markdown; of a notebook, what ``notebook_page`` makes of it.
        site: what its links lead to.
        page: which one it is.
    """
    lines = FRONT_MATTER.sub("", source).strip("\n").split("\n")
    lines = start_page.with_parts(methods_table.with_tables(ran_on.with_marks(lines), site, page), site, page)
    lines = containers.opened(_with_includes(unmeasured_marks.with_marks(lines), site.tree.root))
    text = link_text.resolved(plain_text.without_comments("\n".join(lines)), site, page)
    return _spaced(plain_text.plain(text)) + "\n"


def _with_includes(lines: list[str], root: Path) -> list[str]:
    """The lines with every include replaced by what it includes. One that is missing is told of by the site's build."""
    return list(_includes(root).run(lines))


@lru_cache(maxsize=8)
def _includes(root: Path) -> Preprocessor:
    """What the site includes snippets by."""
    options = {"base_path": [str(root)], "dedent_subsections": True}
    made = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": options})
    found = made.preprocessors["snippet"]
    assert isinstance(found, Preprocessor)
    return found


def _spaced(text: str) -> str:
    """The text with at most one blank line between two others and none with blanks alone; code as it is."""
    rows, found = text.split("\n"), [""]
    code = {row for fence in fenced(rows) for row in range(fence.first, fence.last + 1)}
    for number, row in enumerate(rows):
        if number in code:
            found.append(row)
        elif row.strip() or found[-1]:
            found.append(row.rstrip())
    return "\n".join(found).strip("\n")
