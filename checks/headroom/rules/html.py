"""Rule `html`: no page, drawing or notebook output runs a script or loads from another host."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from headroom.io.safe_read import UnreadableError, line_of, read_found, text_of, walk
from headroom.pages.active_content import Finding, in_html, in_markdown
from headroom.pages.source import Page
from headroom.records import Problem
from headroom.rules.context import Context

_SHOWN = {"text/markdown": in_markdown, "text/html": in_html, "image/svg+xml": in_html}
_MOST = 20
"""Findings of one page that are named: a page that has more is no page of ours."""
_KINDS = {*_SHOWN, "text/plain", "image/png", "image/jpeg"}


def html(context: Context) -> Iterator[Problem]:
    """Report content of pages, drawings and notebook outputs that runs a script or loads from another host."""
    yield from _of_drawings(context.tree.root)
    for page in context.pages:
        line, counted = 1, 0
        for finding in in_markdown(page.markdown)[:_MOST]:
            line, counted = line + page.markdown.count("\n", counted, finding.position), finding.position
            yield _problem(page, line, finding)
        for cell in page.notebook.cells if page.notebook else ():
            for output in cell.outputs:
                for finding in _of_output(output.get("data") or {}):
                    yield _problem(page, cell.line, finding)


def _of_drawings(root: Path) -> Iterator[Problem]:
    """Report active content of SVG files, which a browser can also open as pages."""
    for file in walk(root, "docs"):
        if file.name.lower().endswith(".svg"):
            with suppress(UnreadableError):  # reported when pages are loaded
                text = text_of(read_found(file, root))
                for finding in in_html(text)[:_MOST]:
                    line = line_of(text, finding.position)
                    yield Problem(file.name, line, "html", "", finding.message, finding.remedy)


def _of_output(data: Mapping[str, Any]) -> Iterator[Finding]:
    for kind, content in data.items():
        if kind not in _KINDS:
            remedy = f"use one of: {', '.join(sorted(_KINDS))}"
            yield Finding(0, f"a notebook output of the type `{kind}` is not allowed", remedy)
        elif kind in _SHOWN:
            yield from _SHOWN[kind](content if isinstance(content, str) else "".join(map(str, content)))


def _problem(page: Page, line: int, finding: Finding) -> Problem:
    return Problem(page.path, line, "html", "", finding.message, finding.remedy)
