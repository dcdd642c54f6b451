"""A cache for `mkdocs serve`: rebuild only what an edit can have changed.

A page is rendered again if its text has changed. All pages are rendered again if shared data have changed: records,
configuration, or the headings and front matter of any page.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, Template
from jinja2.bccache import Bucket

from headroom.io import git_history, safe_read

_PAGE_ATTRIBUTES = ("content", "toc", "_title_from_render", "present_anchor_ids", "links_to_anchors")
"""The attributes that MkDocs' `Page.render` sets on a page."""
_OUTLINE = re.compile(r"\A---\n(?s:.*?)^---$|^ {0,3}#.*$", re.MULTILINE)
_UNTRACKED_INCLUDE = re.compile(r'--8<--(?! "(?:snippets|checks)/)')
"""An include of a file that the hash of shared data does not cover."""


def records_hash(root: Path) -> str:
    """Return a hash of the records, benchmarks, snippets and the last commit."""
    found = (each for folder in ("checks", "snippets") for each in _files(root, folder))
    parts = (f"{path} {safe_read.sha256(data)}" for path, data in found)
    return safe_read.sha256("\n".join([str(git_history.last_commit(root)), *parts]))


def outlines_hash(docs: Path, config: Path) -> str:
    """Return a hash of the configuration and of every page's front matter and headings."""
    pages = (f"{path} {_outline(path, data)}" for path, data in _files(docs.parent, docs.name))
    return safe_read.sha256("\n".join([config.read_text("utf-8"), *pages]))


def _files(root: Path, folder: str) -> Iterator[tuple[str, bytes]]:
    for path in safe_read.below(root / folder):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _outline(path: str, data: bytes) -> str:
    """Return what other pages may show of this file: front matter and headings, or a hash if it is not Markdown."""
    if not path.endswith(".md"):
        return safe_read.sha256(data)
    return "\n".join(found[0] for found in _OUTLINE.finditer(data.decode("utf-8", "replace")))


class ServeCache:
    """Results of earlier builds by kind and page, each with the source that it was made from."""

    def __init__(self) -> None:
        self._shared = ""
        self._kept: dict[tuple[str, str], tuple[str, Any]] = {}
        self._compiled = _Compiled()

    def start_build(self, shared: str) -> None:
        """Start a build; if the shared data have changed, drop the results of all pages."""
        if shared != self._shared:
            self._kept = {(kind, page): made for (kind, page), made in self._kept.items() if not page}
        self._shared = shared

    def recall_shared(self, kind: str, source: str, make: Callable[[], Any]) -> Any:
        """Return a result that belongs to no page, made again if the source has changed."""
        return self.recall(kind, "", source, make)

    def recall(self, kind: str, name: str, source: str, make: Callable[[], Any]) -> Any:
        """Return a page's result, made again if the source has changed or includes an untracked file."""
        found = self._kept.get((kind, name))
        if found is None or found[0] != source or _UNTRACKED_INCLUDE.search(source):
            found = self._kept[kind, name] = source, make()
        return found[1]

    def render(self, page: Any, render: Callable[..., None], config: Any, site_files: Any) -> None:
        """Render a page of MkDocs, or restore its earlier result."""

        def make() -> dict[str, Any]:
            render(config, site_files)
            return {name: getattr(page, name) for name in _PAGE_ATTRIBUTES}

        source = f"{page.meta!r}\n{page.markdown}"
        for name, value in self.recall("page", page.file.src_uri, source, make).items():
            setattr(page, name, value)
        # Links point to File objects of an earlier build; replace them with those of this build.
        links = page.links_to_anchors or {}
        page.links_to_anchors = {site_files.src_uris[to.src_uri]: anchors for to, anchors in links.items()}

    def index(self, search: Any) -> None:
        """Let the theme's search index reuse the entries of unchanged pages."""
        add = search.add_entry_from_context

        def cached(page: Any) -> None:
            def make() -> list[dict[str, Any]]:
                before = len(search.entries)
                add(page)
                found = search.entries[before:]
                del search.entries[before:]
                return list(found)

            source = f"{page.title} {page.url} {page.meta!r}\n{page.content}"
            search.entries += [dict(entry) for entry in self.recall("search", page.file.src_uri, source, make)]

        search.add_entry_from_context = cached

    def templates(self, env: Environment, pages: Iterable[Any]) -> None:
        """Let the theme compile its templates once and reuse the HTML of unchanged pages.

        The key includes the titles of all pages, because templates show them in the navigation.
        """
        titles = safe_read.sha256("\n".join(f"{page.url} {page.title}" for page in pages))
        memory = self

        class CachedTemplate(Template):
            def render(self, *args: Any, **more: Any) -> str:
                make = partial(super().render, *args, **more)
                page = dict(*args, **more).get("page")
                if page is None:
                    return make()
                toc = "".join(map(str, page.toc))
                source = f"{self.name} {titles} {page.meta!r} {toc}\n{page.content}"
                found: str = memory.recall("html", page.file.src_uri, source, make)
                return found

        env.bytecode_cache, env.template_class = self._compiled, CachedTemplate


class _Compiled(BytecodeCache):
    """Jinja's cache of compiled templates, held in memory."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()
