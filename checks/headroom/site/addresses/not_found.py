"""The 404 page, which suggests pages with a similar address."""

import json
from pathlib import Path

from headroom.site.addresses.redirects import Urls
from headroom.site.site_data import SiteData, claim_page

NAME = "404.html"
_FOLDER = Path(__file__).parent


def template() -> str:
    """Return the page as a template of the theme; its links are absolute, since a host shows it at any depth."""
    script = (_FOLDER / "not_found.js").read_text(encoding="utf-8")
    return (_FOLDER / "not_found.html").read_text(encoding="utf-8").replace("SCRIPT", script)


def known(site: SiteData, urls: Urls) -> str:
    """Return the old address, title and target of every page, as JSON that is safe inside HTML."""
    gone = {name: page.target.partition("#")[0] for name, page in site.old_pages.items() if page.target}
    old = [[name, site.title(target), f"{name}.html"] for name, target in gone.items()]
    paths = [page.path.removeprefix("docs/") for page in site.pages]
    pages = [[path.rpartition(".")[0], site.title(path), urls(path)] for path in paths]
    made = {claim_page(claim.id): claim.statement for claim in site.tree.claims.values()}
    claims = [[path.rpartition(".")[0], statement, urls(path)] for path, statement in made.items()]
    return json.dumps([*old, *pages, *claims]).replace("<", "\\u003c")
