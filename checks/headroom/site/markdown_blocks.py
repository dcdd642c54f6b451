"""Build Markdown for generated pages: headings, lists, tables, folds, badges and percentages."""

from collections.abc import Iterable, Iterator

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.site_data import INDEX, PageContext


def heading(title: str) -> str:
    """Return a section heading that the search leaves out."""
    return f"## {title} {{ data-search-exclude }}"


def bullets(rows: Iterable[str]) -> str:
    """Return a bulleted list."""
    return "\n".join(f"- {row}" for row in rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table whose cells are Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def folded(kind: str, title: str, body: str) -> str:
    """Return Markdown folded under a title."""
    rows = "\n".join(f"    {row}" if row else "" for row in body.split("\n"))
    return f'??? {kind} "{title}"\n\n{rows}'


def badge(status: str, word: str) -> str:
    """Return a badge; the style sheet adds its shape and colour."""
    return f'<span class="badge badge-{status}">{text(word)}</span>'


def not_claimed(claim: Claim, page: PageContext) -> Iterator[str]:
    """Yield the section on what the claim does not say, with links to its guide and the index."""
    yield heading("What is not claimed")
    yield bullets(text(entry) for entry in claim.not_claimed)
    guide, index = page.href(claim.guide), page.href(INDEX)
    yield f"See [its guide]({guide}) and [all claims]({index})."


def percent(share: float) -> str:
    """Return a share in per cent with two significant digits."""
    if 0 < share < 1e-6:  # noqa: PLR2004 - the text names the limit
        return "less than 0.0001\u00a0%"
    digits = f"{float(f'{share * 100:.2g}'):f}"
    return f"{digits.rstrip('0').rstrip('.')}\u00a0%"


def signed(share: float) -> str:
    """Return a relative change in per cent with its sign."""
    sign = "\u2212" if share < 0 else "+" if share > 0 else ""
    size = percent(abs(share))
    return f"{sign}{size}" if size[0].isdigit() else size
