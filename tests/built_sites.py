"""Builds of the site for tests, and a parser of their pages."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest


def built_once(name: str, tree: Callable[[], Path], factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tree's site, built once for all test workers."""
    shared = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    out, marker = shared / name, shared / f"{name}.built"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            done = build(tree(), out)
            assert done.returncode == 0, done.stderr
            marker.touch()
    return out


def build(root: Path, out: Path, generator: str = "mkdocs", **environment: str) -> subprocess.CompletedProcess[str]:
    """Build a tree as CI does; mkdocs.yml sets strict, so no option repeats it."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "1700000000", **environment}
    command = [
        sys.executable,
        "-m",
        generator,
        "build",
        "--config-file",
        str(root / "mkdocs.yml"),
        "--site-dir",
        str(out),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)


class Page(HTMLParser):
    """The resources, links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect one element's addresses."""
        found = {name: value or "" for name, value in attrs}
        self.ids.add(found.get("id", ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("link", "script", "img", "iframe", "source", "image", "use"):
            self.loads += [found[name] for name in ("href", "src", "srcset") if name in found]
