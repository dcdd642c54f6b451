"""The fold under the heading of a method: its other names, and what a reader sees who needs it.

The search of the site indexes what stands on a page. So an error message or an old flag finds the section that answers
it because the method's record has it, and whoever comes from a search can see that this is the right place.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from headroom.records.methods import Method
from headroom.site.site_data import UNSEARCHED, PageContext, SiteData

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


def add(root: Element, site: SiteData, page: PageContext) -> None:
    """Fold the names of each method under the heading that begins its section; a whole page is that of its title."""
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
    SubElement(found, "summary", UNSEARCHED).text = "Other names, and what you see"
    for method in methods:
        line = SubElement(found, "p")
        name = SubElement(line, "strong")
        name.text, name.tail = f"{method.name}.", f" {' '.join(_sentences(method))}"
    return found


def _sentences(method: Method) -> Iterator[str]:
    if method.aliases:
        yield f"Also called: {', '.join(method.aliases)}."
    yield f"You see: {'; '.join(method.symptoms)}."
