"""Add a fold with a method's other names and symptoms under its heading, for readers and the search."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from headroom.records.methods import Method
from headroom.site.site_data import UNSEARCHED, PageContext, SiteData

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


def add(root: Element, site: SiteData, page: PageContext) -> None:
    """Insert the fold of each method under its section's heading, or under the title if it has a whole page."""
    sections: dict[str, list[Method]] = {}
    for method in site.tree.methods.values():
        path, _, anchor = method.section.partition("#")
        if path == page.path:
            sections.setdefault(anchor, []).append(method)
    for parent in list(root.iter()) if sections else ():
        for heading in [child for child in parent if child.tag in _HEADINGS]:
            methods = sections.pop(heading.get("id", ""), []) or sections.pop("" if heading.tag == "h1" else "#", [])
            if methods:
                parent.insert(list(parent).index(heading) + 1, _folded(methods))


def _folded(methods: list[Method]) -> Element:
    found = Element("details", {"class": "known-as"})
    SubElement(found, "summary", UNSEARCHED).text = "Other names and symptoms"
    for method in methods:
        line = SubElement(found, "p")
        name = SubElement(line, "strong")
        name.text, name.tail = f"{method.name}.", f" {' '.join(_sentences(method))}"
    return found


def _sentences(method: Method) -> Iterator[str]:
    if method.aliases:
        yield f"Also called: {', '.join(method.aliases)}."
    yield f"You see: {'; '.join(method.symptoms)}."
