"""What every page that is made from a record is put together of."""

from collections.abc import Iterable, Iterator

from headroom.io.markdown_escape import text
from headroom.records import Claim
from headroom.site.site_data import INDEX, PageContext


def heading(title: str) -> str:
    """A section that the search leaves out: a claim is found by its sentence and its verdict."""
    return f"## {title} {{ data-search-exclude }}"


def bullets(rows: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {row}" for row in rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table, its cells Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def folded(kind: str, title: str, body: str) -> str:
    """Markdown beneath a title that opens it."""
    rows = "\n".join(f"    {row}" if row else "" for row in body.split("\n"))
    return f'??? {kind} "{title}"\n\n{rows}'


def badge(status: str, word: str) -> str:
    """A status as a word; the style sheet adds its shape and colour."""
    return f'<span class="badge badge-{status}">{text(word)}</span>'


def not_claimed(claim: Claim, page: PageContext) -> Iterator[str]:
    """What the claim does not say, and where it belongs."""
    yield heading("What is not claimed")
    yield bullets(text(entry) for entry in claim.not_claimed)
    guide, index = page.href(claim.guide), page.href(INDEX)
    yield f"It belongs to [this guide]({guide}) and is one of [all claims]({index})."


def percent(share: float) -> str:
    """A share in per cent, to two significant digits; one that is tiny only as such."""
    if 0 < share < 1e-6:  # noqa: PLR2004 - the words say it
        return "less than 0.0001\u00a0%"
    digits = f"{float(f'{share * 100:.2g}'):f}"
    return f"{digits.rstrip('0').rstrip('.')}\u00a0%"


def signed(share: float) -> str:
    """A relative change in per cent, with its sign, also where it is small."""
    sign = "\u2212" if share < 0 else "+" if share > 0 else ""
    size = percent(abs(share))
    return f"{sign}{size}" if size[0].isdigit() else size
