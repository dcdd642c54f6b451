"""The built sites, an HTTP server, Chromium and axe, made once for all browser tests."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from built_sites import built_once
from host import serve
from page_visits import Visit, visit
from templates import Template, representatives

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".cache/npm/node_modules/axe-core/axe.min.js"


def missing(reason: str) -> None:
    """Skip the test on a developer's machine; fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the repository's own site, built."""
    return built_once("site", lambda: ROOT, tmp_path_factory)


@pytest.fixture(scope="session")
def clean_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the clean tree of the rule cases as a built site; it has every kind of claim."""
    return built_once("clean", lambda: clean_tree(tmp_path_factory.mktemp("tree") / "clean"), tmp_path_factory)


def clean_tree(root: Path) -> Path:
    """Return a copy of the clean tree with the real site's style and scripts."""
    shutil.copytree(ROOT / "tests/rule_cases/clean", root)
    shutil.copytree(ROOT / "docs/assets", root / "docs/assets", dirs_exist_ok=True)
    config, nav = ((tree / "mkdocs.yml").read_text("utf-8").partition("\nnav:") for tree in (ROOT, root))
    (root / "mkdocs.yml").write_text(f"{config[0]}\nnav:{nav[2]}  - claims/index.md\n", "utf-8")
    return root


@pytest.fixture(scope="session")
def host(site: Path) -> Iterator[str]:
    """Yield the address of a server of the real site."""
    with serve(site) as address:
        yield address


@pytest.fixture(scope="session")
def templates(site: Path, host: str, clean_site: Path) -> Iterator[dict[str, Template]]:
    """Return a page for each kind, from the clean site if the real one has none."""
    with serve(clean_site) as other:
        found = {kind: Template(clean_site, path, other) for kind, path in representatives(clean_site).items()}
        real = {kind: Template(site, path, host) for kind, path in representatives(site).items()}
        yield found | real


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Yield the distribution's Chromium; playwright downloads no browser."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("no Chromium: install the package `chromium`")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe."""
    if not AXE.is_file():
        missing("no axe: `make .cache/npm/axe` installs it from npm")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="session")
def visits(browser: "Browser", templates: dict[str, Template], axe: str) -> dict[str, Visit]:
    """Return a visit to each template by HTTP, in every state and checked by axe."""
    return {kind: visit(browser, template.served, axe) for kind, template in templates.items()}


@pytest.fixture(scope="session")
def opened(browser: "Browser", templates: dict[str, Template]) -> dict[str, Visit]:
    """Return a visit to each template that works from the file system."""
    paths = {kind: template.path for kind, template in templates.items() if template.path.name != "404.html"}
    return {kind: visit(browser, path.as_uri()) for kind, path in paths.items()}
