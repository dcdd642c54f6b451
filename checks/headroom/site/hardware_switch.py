"""The hardware switch of a page: its control, and the data from which a script changes the badges."""

import json
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from headroom.io.markdown_escape import one_line
from headroom.records import MeasuredClaim
from headroom.site.claims import phrasing, verdict_sentence
from headroom.site.site_data import PageContext, SiteData

MARK = "data-claim"
"""The attribute, with the claim's id, of a link whose badge follows the switch."""
DATA = "headroom-claims"
"""The id of the element that holds the JSON data."""

NOTHING = " (nothing measured yet)"


def linked(root: Element) -> list[Element]:
    """Return the links of a page whose badges follow the switch."""
    return [link for link in root.iter("a") if link.get(MARK)]


def add(root: Element, site: SiteData, page: PageContext) -> None:
    """Insert the switch below a page's title, and append its data to the page."""
    title = next((place for place, element in enumerate(root) if element.tag == "h1"), -1)
    root.insert(title + 1, _control(site, page))
    script = SubElement(root, "script", {"type": "application/json", "id": DATA})
    script.text = _json(_data(linked(root), site, page))


def select(site: SiteData, first: str, **attributes: str) -> Element:
    """Return a select of hardware classes; its first choice names no class."""
    # Without autocomplete=off a browser may restore an earlier choice without changing the badges.
    found = Element("select", {"data-hardware": "", "autocomplete": "off", **attributes})
    SubElement(found, "option", {"value": ""}).text = first
    measured = measured_classes(site)
    for name, known in site.tree.classes.items():
        option = SubElement(found, "option", {"value": name, "data-name": one_line(known.name)})
        option.text = one_line(site.short_name(name)) + ("" if name in measured else NOTHING)
    return found


def measured_classes(site: SiteData) -> set[str]:
    """Return the hardware classes with at least one verdict of their own."""
    standings = site.board.standings.values()
    return {name for found in standings for name, standing in found.items() if standing.verdict is not None}


def _control(site: SiteData, page: PageContext) -> Element:
    """Return the switch, excluded from search and from glossary links."""
    control = Element("p", {"class": "hardware-switch", "data-search-exclude": "", "data-no-terms": ""})
    label = SubElement(control, "label")
    label.text = "Hardware "
    measured = measured_classes(site)
    names = (site.short_name(name) + ("" if name in measured else NOTHING) for name in page.hardware)
    own = " and ".join(names)
    first = f"as on this page: {own}" if own else "as on this page"
    label.append(select(site, first, **{"data-own": page.hardware[0] if _one(page) else ""}))
    SubElement(control, "small", {"role": "status"})
    return control


def _one(page: PageContext) -> bool:
    return len(page.hardware) == 1


def _data(links: list[Element], site: SiteData, page: PageContext) -> dict[str, dict[str, Any]]:
    """Return [status, word, sentence], in cells also [figures, conditions], by claim and class with evidence."""
    in_cells = {link.get(MARK) for link in links if "claim-summary" in link.get("class", "").split()}
    found: dict[str, dict[str, Any]] = {}
    for name in sorted({link.get(MARK, "") for link in links}):
        claim = site.tree.claims[name]
        assert isinstance(claim, MeasuredClaim)
        seen = (
            phrasing.view(site, claim, each) for each in site.tree.classes if not (_one(page) and each in page.hardware)
        )
        found[name] = {
            view.hardware: _view(view, in_cell=name in in_cells) for view in seen if view.status != "unmeasured"
        }
    return {name: views for name, views in found.items() if views}


def _view(view: phrasing.View, *, in_cell: bool) -> list[str]:
    words = [view.status, view.word, verdict_sentence.verdict_sentence(view)]
    point = phrasing.shown_point(view) if in_cell else None
    return [*words, phrasing.before_after(view.claim, point), phrasing.conditions(view, point)] if point else words


def _json(data: object) -> str:
    """Return JSON that is safe inside a script element: no end tag, no entity."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
