"""What pages were made into before, for a server that makes the same site again and again while somebody writes.

A page is made anew when its own text has changed, and every page when anything has that more than one page may show.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, Template
from jinja2.bccache import Bucket

from headroom.io import git_history, safe_read

_MADE = ("content", "toc", "_title_from_render", "present_anchor_ids", "links_to_anchors")
"""What MkDocs' `Page.render` leaves on a page."""
_OUTLINE = re.compile(r"\A---\n(?s:.*?)^---$|^ {0,3}#.*$", re.MULTILINE)
_ELSEWHERE = re.compile(r'--8<--(?! "(?:snippets|checks)/)')
"""An include of a file that the world leaves out."""


def records(root: Path) -> str:
    """A hash of all that is known: records, benchmarks, snippets, and the last commit."""
    found = (each for folder in ("checks", "snippets") for each in _files(root, folder))
    parts = (f"{path} {safe_read.sha256(data)}" for path, data in found)
    return safe_read.sha256("\n".join([str(git_history.last_commit(root)), *parts]))


def outlines(docs: Path, config: Path) -> str:
    """A hash of the configuration, and of what others may show of a page: its front matter and its headings."""
    pages = (f"{path} {_outline(path, data)}" for path, data in _files(docs.parent, docs.name))
    return safe_read.sha256("\n".join([config.read_text("utf-8"), *pages]))


def _files(root: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    for path in safe_read.below(root / folder):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _outline(path: str, data: bytes) -> str:
    """What other pages may show of a page; all of what is no Markdown."""
    if not path.endswith(".md"):
        return safe_read.sha256(data)
    return "\n".join(found[0] for found in _OUTLINE.finditer(data.decode("utf-8", "replace")))


class ServeCache:
    """What was made of a page, by the kind of what was made and the page's name, with what it was made from."""

    def __init__(self) -> None:
        self._world = ""
        self._kept: dict[tuple[str, str], tuple[str, Any]] = {}
        self._compiled = _Compiled()

    def turn(self, now: str) -> None:
        """Begin to make the site again, in the world as it is now: what was made of a page in another one is gone."""
        if now != self._world:
            self._kept = {(kind, page): made for (kind, page), made in self._kept.items() if not page}
        self._world = now

    def of_all(self, kind: str, source: str, make: Callable[[], Any]) -> Any:
        """What was made of records and outlines with this hash before; else what is made of them now."""
        return self.recall(kind, "", source, make)

    def recall(self, kind: str, name: str, source: str, make: Callable[[], Any]) -> Any:
        """What was made of this source before; else what is made of it now."""
        found = self._kept.get((kind, name))
        if found is None or found[0] != source or _ELSEWHERE.search(source):
            found = self._kept[kind, name] = source, make()
        return found[1]

    def render(self, page: Any, render: Callable[..., None], config: Any, site_files: Any) -> None:
        """Render a page of MkDocs, whose text has been read, or give it what it was rendered to before."""

        def make() -> dict[str, Any]:
            render(config, site_files)
            return {name: getattr(page, name) for name in _MADE}

        source = f"{page.meta!r}\n{page.markdown}"
        for name, value in self.recall("page", page.file.src_uri, source, make).items():
            setattr(page, name, value)
        # The files of an earlier turn hold the pages of that turn.
        links = page.links_to_anchors or {}
        page.links_to_anchors = {site_files.src_uris[to.src_uri]: anchors for to, anchors in links.items()}

    def index(self, search: Any) -> None:
        """Let the theme's search index take the entries of a page that has not changed from here."""
        add = search.add_entry_from_context

        def remembered(page: Any) -> None:
            def make() -> list[dict[str, Any]]:
                before = len(search.entries)
                add(page)
                found = search.entries[before:]
                del search.entries[before:]
                return list(found)

            source = f"{page.title} {page.url} {page.meta!r}\n{page.content}"
            search.entries += [dict(entry) for entry in self.recall("search", page.file.src_uri, source, make)]

        search.add_entry_from_context = remembered

    def templates(self, env: Environment, pages: Iterable[Any]) -> None:
        """Let the theme's templates be compiled once, and not be filled again for a page that has not changed.

        What they show beside a page is of the world as it is now, and the titles of all pages, which are given.
        """
        titles = safe_read.sha256("\n".join(f"{page.url} {page.title}" for page in pages))
        memory = self

        class Remembered(Template):
            def render(self, *args: Any, **more: Any) -> str:
                make = partial(super().render, *args, **more)
                page = dict(*args, **more).get("page")
                if page is None:
                    return make()
                toc = "".join(map(str, page.toc))
                source = f"{self.name} {titles} {page.meta!r} {toc}\n{page.content}"
                found: str = memory.recall("html", page.file.src_uri, source, make)
                return found

        env.bytecode_cache, env.template_class = self._compiled, Remembered


class _Compiled(BytecodeCache):
    """The code of templates; Jinja compares the hash of a template's text."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()
