"""A picture as a file of its own: with the site's colours, and without its style sheet."""

from typing import Final

from headroom.pictures.canvas import Picture, svg

LIGHT: Final = {
    "ink": "#1b2427",
    "muted": "#566267",
    "line": "#d9dfe0",
    "paper": "#ffffff",
    "shade": "#f4f6f6",
    "teal": "#0d6066",
    "red": "#a1262c",
    "amber": "#855700",
    "violet": "#5d4a8f",
    "slate": "#4a5a6a",
}
DARK: Final = {
    "ink": "#e2e8e8",
    "muted": "#9dabaf",
    "line": "#323d41",
    "paper": "#14191b",
    "shade": "#1c2326",
    "teal": "#73c9c4",
    "red": "#f0928f",
    "amber": "#e0b060",
    "violet": "#b9a8ea",
    "slate": "#a9b9c9",
}
"""The colours that such drawings use, as in docs/assets/style/colours.css."""


def standalone(picture: Picture) -> str:
    """Return an SVG file that follows the reader's choice of light or dark."""
    light, dark = (";".join(f"--{name}:{value}" for name, value in each.items()) for each in (LIGHT, DARK))
    colours = (
        f":root{{{light};--md-text-font:system-ui,sans-serif;background:var(--paper)}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )
    return svg(picture).replace("<style>", f"<style>{colours}", 1) + "\n"
