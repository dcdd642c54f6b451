"""Links under a page's title: its Markdown version, and editing its source."""

from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, SubElement

from headroom.site.site_data import PageContext, SiteData, markdown_page


def add(root: Element, site: SiteData, page: PageContext) -> None:
    """Insert the links below the page's title."""
    title = next((place for place, child in enumerate(root, 1) if child.tag == "h1"), 0)
    root.insert(title, element(site, page))


def element(site: SiteData, page: PageContext) -> Element:
    """Return the links; a script adds a button that copies the Markdown version."""
    found = Element("nav", {"class": "page-actions", "aria-label": "This page", "data-search-exclude": ""})
    plain = {"href": PurePosixPath(markdown_page(page.path)).name, "type": "text/markdown", "rel": "alternate"}
    SubElement(found, "a", plain).text = "Markdown"
    source = _source(site, page)
    if site.repository and source:
        address = f"{site.repository.rstrip('/')}/edit/main/{source}"
        SubElement(found, "a", {"href": address}).text = "Edit"
    return found


def _source(site: SiteData, page: PageContext) -> str:
    """Return the path of a page's source file in the tree, or nothing for a page made from several records."""
    record = PurePosixPath(page.path).with_suffix(".yml")
    places = [f"docs/{page.path}"]
    if record.parts[0] == "claims":
        places.append(str(PurePosixPath("checks/registry", *record.parts[1:])))
    return next((place for place in places if (site.tree.root / place).is_file()), "")
