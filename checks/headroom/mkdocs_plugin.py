"""The adapter between MkDocs and the site: it hands over files and the page in hand, and decides nothing."""

import logging
from functools import partial
from pathlib import Path, PurePosixPath
from types import MethodType
from typing import Any

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from headroom.files import read_text
from headroom.prose.pages import page_gaps
from headroom.records import notebooks
from headroom.site import exports, notebook_page
from headroom.site.context import INDEX, PageContext, SiteData
from headroom.site.memory import Memory, records, world

_LOG = logging.getLogger("mkdocs.headroom")


class PluginConfig(Config):  # type: ignore[misc] # MkDocs is not followed, see pyproject.toml
    """The plugin's options in mkdocs.yml."""

    root = config_options.Optional(config_options.Dir(exists=True))
    repository = config_options.Optional(config_options.URL())
    bundles = config_options.DictOfItems(config_options.ListOfItems(config_options.Type(str)), default={})


class HeadroomPlugin(BasePlugin[PluginConfig]):  # type: ignore[misc] # as above
    """Adds what is made from records to the site, and tells the Markdown extension which page is rendered."""

    site: SiteData
    page = PageContext()
    memory: Memory | None = None
    known: str

    def on_startup(self, *, command: str, dirty: bool) -> None:  # noqa: ARG002
        """Remember what pages were made into where the same site is made again and again."""
        self.memory = Memory() if command == "serve" else None

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Read and judge the tree; `mkdocs serve` comes here again after every change."""
        root = Path(self.config.root or Path(config.config_file_path).parent)
        self.site = self._read(root)
        for problem in self.site.tree.problems:
            _LOG.warning("%s", problem)
        options: dict[str, Any] = config.mdx_configs.setdefault("headroom", {})
        options |= {"site": self.site, "page": lambda: self.page}
        if "headroom" not in config.markdown_extensions:
            config.markdown_extensions.append("headroom")
        return config

    def _read(self, root: Path) -> SiteData:
        def load() -> SiteData:
            return SiteData.load(root, self.config.repository or "")

        if self.memory is None:
            return load()
        self.known = records(root)
        found = self.memory.recall("site", str(root), f"{self.config.repository} {self.known}", load)
        assert isinstance(found, SiteData)
        return found

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the claim pages, their index, the exports and the files that pages link to."""
        for path, text in exports.pages(self.site).items():
            inclusion = InclusionLevel.UNDEFINED if path == INDEX else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, path, content=text, inclusion=inclusion))
        for path, source in exports.data_files(self.site).items():
            files.append(File.generated(config, path, abs_src_path=str(source)))
        styles_and_scripts = exports.bundles(Path(config.docs_dir), self.config.bundles)
        for path, text in (*exports.json_files(self.site).items(), *styles_and_scripts.items()):
            files.append(File.generated(config, path, content=text))
        if self.memory:
            names = (file.src_uri for file in files)
            self.memory.turn(world(self.known, Path(config.config_file_path), Path(config.docs_dir), names))
        return files

    def on_env(self, env: Any, /, *, config: MkDocsConfig, files: Files) -> None:  # noqa: ARG002
        """Let the search remember as well."""
        search = config.plugins.get("material/search")
        if self.memory and search and search.config.enabled:
            self.memory.index(search.search_index)

    def on_pre_page(self, page: Page, /, *, config: MkDocsConfig, files: Files) -> Page:  # noqa: ARG002
        """Let MkDocs render a notebook as any page; mkdocs-jupyter, which makes a page of it, would do it here.

        A server takes from memory what has not changed.
        """
        if _is_notebook(page):
            page.render = MethodType(Page.render, page)
        if self.memory:
            page.render = partial(self.memory.render, page, page.render)
        return page

    def on_page_read_source(self, *, page: Page, config: MkDocsConfig) -> str | None:  # noqa: ARG002
        """A notebook's cells and stored outputs as Markdown; other pages are read by MkDocs."""
        if not _is_notebook(page):
            return None
        text = read_text(Path(page.file.abs_src_path), self.site.tree.root)
        return notebook_page.markdown(notebooks.parse(text), PurePosixPath(page.file.src_uri).name)

    def on_page_markdown(self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG002
        """Remember the page that is rendered next, and warn of what its author has not written yet."""
        for _, message in page_gaps(markdown):
            _LOG.warning("docs/%s: gaps: %s", page.file.src_uri, message)
        self.page = PageContext.of(page.file.src_uri, page.meta)
        return markdown


def _is_notebook(page: Page) -> bool:
    return str(page.file.src_uri).endswith(".ipynb")
