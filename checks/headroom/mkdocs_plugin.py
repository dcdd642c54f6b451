"""The MkDocs plugin: connect MkDocs to `headroom.site`."""

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from types import MethodType
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment
from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from headroom.io.safe_read import read_text
from headroom.pages.source import page_gaps
from headroom.records import Tree, notebooks
from headroom.site import exports, memory_tool, notebook_page, page_template, plan_form, planned, topology_tool
from headroom.site.addresses import not_found, redirects
from headroom.site.exports import markdown_pages, search_worker
from headroom.site.exports.search_index import address as section_address
from headroom.site.serve_cache import ServeCache, outlines_hash, records_hash
from headroom.site.site_data import INDEX, PageContext, SiteData, read_and_judge
from headroom.verdicts import Board

_LOG = logging.getLogger("mkdocs.headroom")


class PluginConfig(Config):  # type: ignore[misc] # MkDocs is not followed, see pyproject.toml
    """The plugin's options in mkdocs.yml."""

    root = config_options.Optional(config_options.Dir(exists=True))
    repository = config_options.Optional(config_options.URL())
    bundles = config_options.DictOfItems(config_options.ListOfItems(config_options.Type(str)), default={})


class HeadroomPlugin(BasePlugin[PluginConfig]):  # type: ignore[misc] # as above
    """Add generated pages and files to the site, and pass the current page to the Markdown extension."""

    site: SiteData
    page = PageContext()
    memory: ServeCache | None = None
    known: str

    def on_startup(self, *, command: str, dirty: bool) -> None:  # noqa: ARG002
        """Create the cache that `mkdocs serve` uses between two builds."""
        self.memory = ServeCache() if command == "serve" else None

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Read and judge the tree; `mkdocs serve` calls this before each rebuild."""
        root = Path(self.config.root or Path(config.config_file_path).parent)
        self.site = SiteData.load(root, self.config.repository or "", config.site_url or "", self._judged(root))
        for problem in self.site.tree.problems:
            _LOG.warning("%s", problem)
        options: dict[str, Any] = config.mdx_configs.setdefault("headroom", {})
        options |= {"site": self.site, "page": lambda: self.page, "actions": True}
        if "headroom" not in config.markdown_extensions:
            config.markdown_extensions.append("headroom")
        return config

    def _judged(self, root: Path) -> tuple[Tree, Board]:
        """Return the records and their verdicts."""
        self.known = records_hash(root) if self.memory else ""
        found: tuple[Tree, Board] = self._once("judged", self.known, partial(read_and_judge, root))
        return found

    def _once(self, kind: str, source: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns; under `mkdocs serve`, reuse an earlier result for the same source."""
        return self.memory.recall_shared(kind, source, make) if self.memory else make()

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the generated pages, the exports, the redirects and the files that pages link to."""
        known = ""
        if self.memory:
            known = f"{self.known} {outlines_hash(Path(config.docs_dir), Path(config.config_file_path))}"
            self.memory.start_build("\n".join([known, *sorted(file.src_uri for file in files)]))
        pages = self._once("pages", known, partial(exports.pages, self.site))
        for path, text in pages.items():
            inclusion = InclusionLevel.UNDEFINED if path == INDEX else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, path, content=text, inclusion=inclusion))
        for path, source in exports.data_files(self.site).items():
            files.append(File.generated(config, path, abs_src_path=str(source)))
        data = self._once("data", known, partial(exports.data, self.site, config.site_name))
        redirected = redirects.files(self.site, partial(_url, files))
        styles_and_scripts = exports.bundles(Path(config.docs_dir), self.config.bundles)
        for path, text in {**data, **redirected, **styles_and_scripts}.items():
            files.append(File.generated(config, path, content=text))
        self._add_markdown(files, config, pages)
        return files

    def _add_markdown(self, files: Files, config: MkDocsConfig, pages: Mapping[str, str]) -> None:
        """Add every page in plain Markdown."""
        of_site = (config.site_name, config.site_description or "", config.nav or [])
        recall = self.memory.recall if self.memory else markdown_pages.no_cache
        for path, text in markdown_pages.files(self.site, pages, *of_site, recall).items():
            files.append(_generated(config, path, text))

    @event_priority(-50)  # type: ignore[untyped-decorator] # after the search plugin, before offline makes a script of it
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Weight the entries of the search index, if the site has one, and correct the worker that reads it."""
        search_worker.correct(Path(config.site_dir))
        path = Path(config.site_dir, "search/search_index.json")
        if path.exists():
            index = json.loads(path.read_text("utf-8"))
            weighted = exports.with_boosts(index, self.site)
            path.write_text(json.dumps(weighted, ensure_ascii=False, separators=(",", ":")), "utf-8")

    def on_env(self, env: Environment, /, *, config: MkDocsConfig, files: Files) -> Environment:
        """Put our templates before the theme's; let the search and `mkdocs serve` skip unneeded work."""
        env.globals["known_addresses"] = not_found.known(self.site, partial(_url, files))
        guides = planned.guides(self.site).items()
        env.globals["planned_guides"] = [(title, section_address(path)) for path, title in guides]
        tools = {
            memory_tool.STYLE: memory_tool.scripts(self.site),
            topology_tool.STYLE: topology_tool.scripts(self.site),
            plan_form.STYLE: plan_form.scripts(self.site),
        }
        env.globals["page_scripts"] = {page: each for scripts in tools.values() for page, each in scripts.items()}
        env.globals["page_styles"] = {page: style for style, scripts in tools.items() for page in scripts}
        ours = DictLoader({not_found.NAME: not_found.template(), page_template.NAME: page_template.template()})
        env.loader = ChoiceLoader([ours, env.loader] if env.loader else [ours])
        if self.memory:
            self.memory.templates(env, (file.page for file in files.documentation_pages() if file.page))
        search = config.plugins.get("material/search")
        if search and search.config.enabled:
            exports.trim_search_entry(search.search_index, self.site)
            if self.memory:
                self.memory.index(search.search_index)
        return env

    def on_pre_page(self, page: Page, /, *, config: MkDocsConfig, files: Files) -> Page:  # noqa: ARG002
        """Let MkDocs render notebooks itself instead of mkdocs-jupyter; under `mkdocs serve`, reuse unchanged pages."""
        if _is_notebook(page):
            page.render = MethodType(Page.render, page)
        if self.memory:
            page.render = partial(self.memory.render, page, page.render)
        return page

    def on_page_read_source(self, *, page: Page, config: MkDocsConfig) -> str | None:  # noqa: ARG002
        """Return a notebook's cells and stored outputs as Markdown, or None for MkDocs to read the file."""
        if not _is_notebook(page):
            return None
        text = read_text(Path(page.file.abs_src_path), self.site.tree.root)
        return notebook_page.markdown(notebooks.parse(text), PurePosixPath(page.file.src_uri).name)

    def on_page_markdown(self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG002
        """Set the current page, and log a warning for each `TODO(author)` left in it."""
        for _, message in page_gaps(markdown):
            _LOG.warning("docs/%s: gaps: %s", page.file.src_uri, message)
        self.page = PageContext.of(page.file.src_uri, page.meta)
        return markdown


def _url(files: Files, path: str) -> str:
    return str(files.src_uris[path].url)


def _generated(config: MkDocsConfig, path: str, text: str) -> File:
    """Return a generated file; the added `.txt` keeps MkDocs from rendering a `.md` file as a page."""
    file = File.generated(config, f"{path}.txt" if path.endswith(".md") else path, content=text)
    file.dest_uri = path
    return file


def _is_notebook(page: Page) -> bool:
    return str(page.file.src_uri).endswith(".ipynb")
