"""The files that the site generates: pages, claims.json, raw data, schemas and bundles of styles and scripts."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from headroom.io.safe_read import read_text
from headroom.pages.old_pages import GLOSSARY
from headroom.records.schemas import schemas
from headroom.site import glossary_page, memory_tool, method_finder, plan_form, topology_tool
from headroom.site.claims import hardware_page, harness_page, readme_badge
from headroom.site.claims.claim_page import render
from headroom.site.claims.claims_index import index
from headroom.site.exports import feed, samples_csv
from headroom.site.exports.claims_json import claims_json
from headroom.site.exports.claims_json import files as claim_files
from headroom.site.exports.search_index import trim_search_entry, with_boosts
from headroom.site.matrix import matrix_data
from headroom.site.matrix import matrix_page as matrix
from headroom.site.site_data import INDEX, SiteData, claim_page, evidence_file

__all__ = [
    "bundles",
    "claim_files",
    "claims_json",
    "data",
    "data_files",
    "index",
    "json_files",
    "minify_css",
    "pages",
    "text_files",
    "trim_search_entry",
    "with_boosts",
]


def pages(site: SiteData) -> dict[str, str]:
    """Return every generated page in Markdown, by its path below docs/."""
    found = {claim_page(claim.id): render(claim, site) for claim in site.tree.claims.values()}
    return {
        INDEX: index(site),
        hardware_page.PAGE: hardware_page.render(site),
        harness_page.PAGE: harness_page.render(site),
        feed.PAGE: feed.page(site, feed.changes(site)),
        matrix.PAGE: matrix.render(site),
        **({GLOSSARY: glossary_page.render(site)} if site.tree.glossary else {}),
        **found,
        **method_finder.pages(site),
    }


def data_files(site: SiteData) -> dict[str, Path]:
    """Return the files that the site copies unchanged, by path: raw data and snippets."""
    sessions = {evidence_file(session.path): site.tree.root / session.path for session in site.tree.sessions}
    snippets = {snippet.path: site.tree.root / snippet.path for snippet in site.tree.snippets.values()}
    machines = {evidence_file(path): site.tree.root / path for path in site.tree.machines}
    return {**sessions, **machines, **snippets}


def data(site: SiteData, title: str) -> dict[str, str]:
    """Return every generated file that is no page, by path; `title` is the site's name."""
    return {**json_files(site), **text_files(site, title)}


def json_files(site: SiteData) -> dict[str, str]:
    """Return the JSON and CSV files for programs, by path: claims, methods and schemas."""
    described = {f"schemas/{name}.json": json.dumps(schema, indent=1) + "\n" for name, schema in schemas().items()}
    methods = {matrix.JSON: matrix_data.as_json(site), matrix.CSV: matrix_data.as_csv(site)}
    return {**claim_files(site), **methods, **described}


def text_files(site: SiteData, title: str) -> dict[str, str]:
    """Return the samples, badges, the data of the pages' tools and the feed, by path."""
    atom = feed.atom(site, feed.changes(site), title)
    return {
        **samples_csv.files(site),
        **readme_badge.files(site),
        **memory_tool.files(site),
        **topology_tool.files(site),
        **plan_form.files(site),
        feed.FEED: atom,
    }


def bundles(docs: Path, wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return files that join several others, by path; style sheets are minified.

    Raises:
        UnreadableError: a part is missing or is not text.
    """
    joined = {path: "\n".join(read_text(docs / part, docs) for part in parts) for path, parts in wanted.items()}
    return {path: minify_css(text) if path.endswith(".css") else text for path, text in joined.items()}


def minify_css(style: str) -> str:
    """Return a style sheet without comments, indentation and spaces around signs."""
    code = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    return re.sub(r":[ \t]+", ":", re.sub(r"\s*([{};,])\s*", r"\1", code)).strip() + "\n"
