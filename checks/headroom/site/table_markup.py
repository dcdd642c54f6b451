"""Fix table markup for screen readers."""

from xml.etree.ElementTree import Element


def clear_empty_headers(root: Element) -> None:
    """Turn each empty header cell into a data cell, because an empty header announces nothing."""
    for head in root.iter("thead"):
        for cell in head.iter("th"):
            if not len(cell) and not (cell.text or "").strip():
                cell.tag = "td"
