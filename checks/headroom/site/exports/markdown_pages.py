"""Every page in plain Markdown, and llms.txt, llms-full.txt and llms-contribute.txt.

llms.txt follows llmstxt.org: a title, a summary, and lists of links to Markdown with a description of each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import PurePosixPath
from typing import Any

from headroom.io.markdown_escape import one_line
from headroom.io.strict_load import load_yaml
from headroom.pages.markdown_syntax import FRONT_MATTER
from headroom.site import notebook_page
from headroom.site.as_markdown import link_text, plain
from headroom.site.site_data import PageContext, SiteData, html_page, markdown_page

_DATA = (
    ("claims.json", "Every claim, its verdicts and their intervals as JSON"),
    ("feed.xml", "Verdicts that changed, as an Atom feed"),
    ("llms-full.txt", "All the pages above in one file, without those for contributors"),
    ("llms-contribute.txt", "The pages for contributors in one file"),
)
_CONTRIBUTE = "contribute/"
"""The folder of the pages for contributors."""


Recall = Callable[[str, str, str, Callable[[], str]], str]
"""Returns a cached result by kind, page and source, or else calls the function."""


def no_cache(kind: str, name: str, source: str, make: Callable[[], str]) -> str:  # noqa: ARG001 - as Recall
    """Call `make`; the default where nothing is cached."""
    return make()


def files(
    site: SiteData,
    generated: Mapping[str, str],
    name: str,
    about: str,
    nav: Sequence[Any],
    recall: Recall = no_cache,
) -> dict[str, str]:
    """Return every page in Markdown, llms.txt, llms-full.txt and llms-contribute.txt, by path.

    Args:
        site: the data of the site.
        generated: the generated pages, from ``exports.pages``.
        name: the name of the site.
        about: a sentence about the site.
        nav: the navigation from mkdocs.yml.
        recall: the cache of `mkdocs serve`.
    """
    sources = {**_written(site), **generated}

    def made(path: str, text: str) -> str:
        return f"{plain(text, site, PageContext.of(path, _meta(text)))}\n{_from(path, site)}\n"

    pages = {path: recall("plain", path, text, partial(made, path, text)) for path, text in sources.items()}
    found = {markdown_page(path): text for path, text in pages.items()}
    found["llms.txt"] = "\n".join(_llms(site, sources, name, about, nav)) + "\n"
    listed = [path for _, path in _flat(nav) if path in pages]
    whole = {
        path: recall("full", path, pages[path], partial(link_text.site_relative, pages[path], path, site.address))
        for path in listed
    }
    found["llms-full.txt"] = "\n".join(text for path, text in whole.items() if not path.startswith(_CONTRIBUTE))
    found["llms-contribute.txt"] = "\n".join(text for path, text in whole.items() if path.startswith(_CONTRIBUTE))
    return found


def _from(path: str, site: SiteData) -> str:
    return f"Source: {site.address}{html_page(path)}"


def _written(site: SiteData) -> dict[str, str]:
    """Return the pages that people write, by their path below docs/."""
    found = {}
    for page in site.pages:
        path = page.path.removeprefix("docs/")
        notebook = page.notebook
        found[path] = notebook_page.markdown(notebook, PurePosixPath(path).name) if notebook else page.text
    return found


def _meta(source: str) -> dict[str, Any]:
    match = FRONT_MATTER.match(source)
    found = load_yaml(match["yaml"]).value if match else None
    return found if isinstance(found, dict) else {}


def _llms(site: SiteData, sources: Mapping[str, str], name: str, about: str, nav: Sequence[Any]) -> Iterator[str]:
    yield f"# {one_line(name)}"
    yield f"\n> {one_line(about)}"
    yield (
        "\nEvery comparison on these pages links to a claim and gives its verdict in brackets: "
        "measured, depends, contradicted, inconclusive, disputed or not measured yet, with the hardware; reported, "
        "recomputed from rows that others published; computed, from a formula; or cited. All code was run."
    )
    single = [entry for entry in nav if not _section(entry)]
    sections = [("Pages", single), *(pair for entry in nav if (pair := _section(entry)))]
    for title, entries in sections:
        listed = [(given, path) for given, path in _flat(entries) if path in sources]
        if listed:
            yield f"\n## {one_line(title)}\n"
            yield from (_line(site, path, given, sources[path]) for given, path in listed)
    yield "\n## Data\n"
    yield from (f"- [{path}]({site.address}{path}): {what}" for path, what in _DATA)


def _line(site: SiteData, path: str, given: str, source: str) -> str:
    meta = _meta(source)
    title = given or unescape(str(meta.get("title") or "")) or _heading(source) or path
    about = unescape(str(meta.get("description") or ""))
    label = one_line(title).replace("[", "(").replace("]", ")")
    return f"- [{label}]({site.address}{markdown_page(path)})" + (f": {one_line(about)}" if about else "")


def _heading(source: str) -> str:
    rows = (row for row in FRONT_MATTER.sub("", source).split("\n") if row.startswith("# "))
    return next(rows, "# ")[2:].strip()


def _section(entry: Any) -> tuple[str, Sequence[Any]] | None:
    """Return the title and entries of a section of the navigation; None for a page."""
    if not isinstance(entry, Mapping):
        return None
    title, inside = next(iter(entry.items()))
    return (str(title), inside) if isinstance(inside, list) else None


def _flat(nav: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield every page of a navigation with its title, or an empty one, in order."""
    for entry in nav:
        if isinstance(entry, str):
            yield "", entry
        elif section := _section(entry):
            yield from _flat(section[1])
        elif isinstance(entry, Mapping):
            yield from ((str(title), str(path)) for title, path in entry.items())
