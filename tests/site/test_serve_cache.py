"""`mkdocs serve` renders only what has changed, and never serves outdated pages."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, Template
from markdown import Markdown
from mkdocs.commands.build import build as make_site
from mkdocs.config import load_config

from built_sites import build

pytestmark = pytest.mark.slow


class Server:
    """`mkdocs serve` without its HTTP server: repeated builds in one process."""

    def __init__(self, root: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.out = root, out
        self.rendered: list[str] = []
        convert = Markdown.convert

        def counted(md: Markdown, source: str) -> str:
            self.rendered.append(source)
            return convert(md, source)

        monkeypatch.setattr(Markdown, "convert", counted)
        monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        self.config().plugins.on_startup(command="serve", dirty=False)

    def config(self) -> "object":
        """Return the configuration, read again; started plugins keep their state."""
        return load_config(str(self.root / "mkdocs.yml"), site_dir=str(self.out))

    def build(self) -> int:
        """Build, and return the number of rendered pages."""
        self.rendered.clear()
        make_site(self.config())
        return len(self.rendered)

    def shown(self) -> dict[str, bytes]:
        """Return every served file."""
        return {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}


@pytest.fixture
def server(own_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Return a server after its first build."""
    level = logging.getLogger("mkdocs").level
    found = Server(own_root, tmp_path / "served", monkeypatch)
    assert found.build() > 10
    yield found
    logging.getLogger("mkdocs").setLevel(level)


def fresh(server: Server, out: Path) -> dict[str, bytes]:
    """Return the files of a build from nothing."""
    done = build(server.root, out)
    assert done.returncode == 0, done.stderr
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def append(path: Path, text: str) -> None:
    """Append text to a file."""
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def test_editing_a_guide_renders_only_that_guide(server: Server, tmp_path: Path) -> None:
    """The site and its search index equal a build from nothing."""
    append(server.root / "docs/training/guide.md", "\nOne more sentence.\n")
    assert server.build() == 1
    assert server.shown() == fresh(server, tmp_path / "fresh")
    assert server.build() == 0


def test_editing_a_guide_fills_only_its_template(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each template of the theme is compiled once."""
    compiled, filled = [], []
    compile_template, fill = Environment.compile, Template.render

    def compiling(env: Environment, source: str, *args: Any, **more: Any) -> Any:
        compiled.append(source)
        return compile_template(env, source, *args, **more)

    def filling(template: Template, *args: Any, **more: Any) -> str:
        filled.append(dict(*args, **more).get("page"))
        return fill(template, *args, **more)

    server.build()
    monkeypatch.setattr(Environment, "compile", compiling)
    monkeypatch.setattr(Template, "render", filling)
    append(server.root / "docs/training/guide.md", "\nOne more sentence.\n")
    server.build()
    assert [page.file.src_uri for page in filled if page] == ["training/guide.md"]
    assert not [source for source in compiled if "md-container" in source]  # that of a page


def test_a_changed_setext_title_appears_in_all_menus(server: Server, tmp_path: Path) -> None:
    """An underlined title is not part of the outline's hash."""
    guide = server.root / "docs/training/guide.md"
    text = guide.read_text("utf-8")
    for title in ("First title", "Second title"):
        changed = re.sub(r"^title: .*\n", "", text, flags=re.MULTILINE)
        guide.write_text(re.sub(r"^# .*$", f"{title}\n===", changed, count=1, flags=re.MULTILINE), "utf-8")
        server.build()
    assert "Second title" in (server.out / "index.html").read_text("utf-8")
    assert server.shown() == fresh(server, tmp_path / "fresh")


def test_changing_shared_data_renders_all_pages(server: Server, tmp_path: Path) -> None:
    """Cases: a record, a snippet, a heading, front matter, the configuration."""
    pages = server.build() + len(list(server.out.rglob("*.html"))) - 1  # 404.html is a template
    record = server.root / "checks/registry/training/memory.yml"
    record.write_text(record.read_text("utf-8").replace("that it is faster", "that it is simple"), "utf-8")
    assert server.build() == pages
    assert server.shown() == fresh(server, tmp_path / "fresh")
    for name, text in {
        "snippets/training/clever.py": "# a comment\n",
        "docs/index.md": "\n## Another heading\n",
        "mkdocs.yml": "# a comment\n",
    }.items():
        append(server.root / name, text)
        assert server.build() == pages, name
    guide = server.root / "docs/training/guide.md"
    guide.write_text(guide.read_text("utf-8").replace("description: A guide", "description: The guide"), "utf-8")
    assert server.build() == pages
