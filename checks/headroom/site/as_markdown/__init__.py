"""Convert a page to plain Markdown for language models and for copying.

The text comes from the page's source, not from its HTML: includes are expanded, links to claims become web links
with their verdict in words, and notes and HTML elements are removed.
"""

from functools import lru_cache
from pathlib import Path

from markdown import Markdown
from markdown.preprocessors import Preprocessor

from headroom.pages.markdown_syntax import FRONT_MATTER, fenced
from headroom.site import formula_tooltips, generated_parts, picture_links, ran_on, unmeasured_marks
from headroom.site.as_markdown import containers, link_text, plain_text
from headroom.site.site_data import PageContext, SiteData


def plain(source: str, site: SiteData, page: PageContext) -> str:
    """Return the page in plain Markdown, without front matter.

    Args:
        source: its Markdown; for a notebook, the result of ``notebook_page.markdown``.
        site: the data that its links refer to.
        page: the page's path and hardware.
    """
    lines = FRONT_MATTER.sub("", source).strip("\n").split("\n")
    lines = generated_parts.with_parts(ran_on.with_marks(lines), site, page)
    lines = formula_tooltips.filled("\n".join(lines), site).split("\n")
    lines = picture_links.with_words(lines, site)
    lines = containers.flattened(_with_includes(unmeasured_marks.with_marks(lines), site.tree.root))
    text = link_text.resolved(plain_text.without_comments("\n".join(lines)), site, page)
    return _spaced(plain_text.plain(text)) + "\n"


def _with_includes(lines: list[str], root: Path) -> list[str]:
    """Expand every include; the site's build reports missing files."""
    return list(_includes(root).run(lines))


@lru_cache(maxsize=8)
def _includes(root: Path) -> Preprocessor:
    """Return the preprocessor with which the site includes snippets."""
    options = {"base_path": [str(root)], "dedent_subsections": True}
    made = Markdown(extensions=["pymdownx.snippets"], extension_configs={"pymdownx.snippets": options})
    found = made.preprocessors["snippet"]
    assert isinstance(found, Preprocessor)
    return found


def _spaced(text: str) -> str:
    """Collapse runs of blank lines and strip trailing spaces, except in code."""
    rows, found = text.split("\n"), [""]
    code = {row for fence in fenced(rows) for row in range(fence.first, fence.last + 1)}
    for number, row in enumerate(rows):
        if number in code:
            found.append(row)
        elif row.strip() or found[-1]:
            found.append(row.rstrip())
    return "\n".join(found).strip("\n")
