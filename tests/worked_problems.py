"""What the tests of worked problems need: a problem's text on its page, its answers, and sizes as pages print them.

Each answer that a guide prints is computed by a test below ``tests/guides``.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
GIB = 2**30


def guide(page: str) -> str:
    """The text of a page, and of those in the folder of its name."""
    first = ROOT / "docs" / page
    return "\n".join(path.read_text(encoding="utf-8") for path in (first, *sorted(first.with_suffix("").glob("*.md"))))


def problem(page: str, title: str) -> str:
    """The text of one worked problem of a guide, from its title to the end of its indented block."""
    text = guide(page)
    match = re.search(
        rf'^\?\?\? question "Worked problem: {re.escape(title)}.*"\n\n(?P<body>(?:    .*\n|\n)+)', text, re.MULTILINE
    )
    assert match, f"{page} has no worked problem that starts with {title!r}"
    return match["body"]


def answers(text: str) -> list[str]:
    """What a problem prints in bold: its answers, in order."""
    return re.findall(r"\*\*(.+?)\*\*", text)


def gib(size: float, digits: int = 1) -> str:
    """Bytes as the guides print them."""
    return f"{size / GIB:.{digits}f} GiB"
