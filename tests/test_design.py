"""The colour palette: contrast, colour blindness, and the figures on the design page."""

import gzip
import re
from itertools import combinations
from pathlib import Path

import pytest

from headroom.site.exports import minify_css

ROOT = Path(__file__).parents[1]
STYLE = ROOT / "docs/assets/style"
PAGE = ROOT / "docs/contribute/design.md"
SCHEMES = ("light", "dark")
TEXT = ("ink", "muted", "teal", "red", "amber", "violet", "slate")
CODE = ("code-string", "code-number", "code-function")
SERIES = ("teal", "violet", "amber", "ink")
BADGE_TINT, LINK_TINT, STRONG_TINT = 0.07, 0.08, 0.18
MOST_BYTES = 7_000

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1, in sRGB."""
# Machado, Oliveira and Fernandes (2009), severity 1, on linear light.
BLIND = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def palette(scheme: str) -> dict[str, Colour]:
    """Return the colours of a scheme from the style sheet; dark inherits from light."""
    light, dark = (STYLE / "colours.css").read_text("utf-8").split("@media screen", 1)
    found = re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light if scheme == "light" else light + dark)
    return {name: tuple(int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)) for name, value in found}  # type: ignore[misc]


def linear(colour: Colour) -> Colour:
    """Return linear light from sRGB."""
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)  # type: ignore[return-value]


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast ratio by WCAG."""
    dark, light = sorted(
        sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True)) for c in (one, other)
    )
    return (light + 0.05) / (dark + 0.05)


def mixed(one: Colour, share: float, other: Colour) -> Colour:
    """Return the colour of `color-mix(in srgb, one share, other)`."""
    return tuple(share * a + (1 - share) * b for a, b in zip(one, other, strict=True))  # type: ignore[return-value]


def lab(light: Colour) -> Colour:
    """Return CIE Lab from linear light."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (
        sum(w * p for w, p in zip(row, light, strict=True)) / n for row, n in zip(rows, (0.9505, 1, 1.089), strict=True)
    )
    f = [max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def apart(one: Colour, other: Colour, blindness: str) -> float:
    """Return the distance of two colours in Lab with this colour blindness."""
    seen = [
        lab(tuple(sum(w * p for w, p in zip(row, linear(c), strict=True)) for row in BLIND[blindness]))
        for c in (one, other)
    ]  # type: ignore[arg-type]
    return sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5


def surfaces(known: dict[str, Colour]) -> dict[str, Colour]:
    """Return the backgrounds of text."""
    tints = {"tint": LINK_TINT, "tint-strong": STRONG_TINT}
    return {
        "paper": known["paper"],
        "shade": known["shade"],
        **{name: mixed(known["teal"], share, known["paper"]) for name, share in tints.items()},
    }


def least(name: str, scheme: str) -> float:
    """Return a colour's lowest contrast on any background, its own badge included."""
    known = palette(scheme)
    badge = mixed(known[name], BADGE_TINT, known["paper"])
    return min(contrast(known[name], below) for below in (*surfaces(known).values(), badge))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", [*TEXT, *CODE])
def test_text_has_enough_contrast_on_every_background(name: str, scheme: str) -> None:
    """Expect 4.5:1 on paper, code, badges, hovered targets and marked lines."""
    assert least(name, scheme) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shapes_have_enough_contrast(scheme: str) -> None:
    """Expect 3:1 for lines of plots, the focus ring and the logo."""
    known, mark = (
        palette(scheme),
        re.search(r'fill="(#[0-9a-f]{6})"', (ROOT / "docs/assets/mark.svg").read_text("utf-8")),
    )
    assert mark is not None
    colours = [known[name] for name in SERIES]
    colours.append(tuple(int(mark[1][i : i + 2], 16) / 255 for i in (1, 3, 5)))  # type: ignore[arg-type]
    assert min(contrast(colour, known["paper"]) for colour in colours) >= 3
    assert contrast(known["teal"], known["shade"]) >= 3


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("blindness", BLIND)
def test_the_lines_of_a_plot_differ_for_the_colour_blind(blindness: str, scheme: str) -> None:
    """Their colours differ enough without the dashes."""
    known = palette(scheme)
    assert min(apart(known[one], known[other], blindness) for one, other in combinations(SERIES, 2)) >= 10


def test_the_tested_colours_are_those_of_the_style_sheets() -> None:
    plots, badges, colours = ((STYLE / f"{name}.css").read_text("utf-8") for name in ("plots", "badges", "colours"))
    assert tuple(re.findall(r"\.series-\d \{ --series: var\(--([a-z]+)\)", plots)) == SERIES
    assert f"currentcolor {BADGE_TINT:.0%}, transparent" in badges
    assert f"--tint: color-mix(in srgb, var(--teal) {LINK_TINT:.0%}" in colours
    assert f"--tint-strong: color-mix(in srgb, var(--teal) {STRONG_TINT:.0%}" in colours
    assert set(palette("dark")) == {*TEXT, *CODE, "paper", "shade", "line"}


def test_every_css_variable_is_defined() -> None:
    """Browsers ignore an undefined one silently."""
    text = "".join(path.read_text("utf-8") for path in STYLE.glob("*.css"))
    named = set(re.findall(r"(?<![\w-])(--[a-z0-9-]+)\s*:", text))
    assert {name for name in re.findall(r"var\((--[a-z0-9-]+)", text) if not name.startswith("--md-")} <= named


def test_the_page_states_the_colours_and_their_contrast() -> None:
    hexes = {
        name: re.findall(rf"--{name}: (#[0-9a-f]{{6}});", (STYLE / "colours.css").read_text("utf-8")) for name in TEXT
    }
    rows = []
    for name, (light, dark) in hexes.items():
        found = f"`{light}` | {least(name, 'light'):.1f} | `{dark}` | {least(name, 'dark'):.1f}"
        rows.append(f'| <span class="swatch {name}"></span> `--{name}` | {found} |')
    missing = [row for row in rows if row not in PAGE.read_text("utf-8")]
    assert not missing, "these rows belong into the table of docs/contribute/design.md:\n" + "\n".join(missing)


def test_the_style_is_small() -> None:
    """Count all sheets, compressed."""
    text = "".join(path.read_text("utf-8") for path in STYLE.glob("*.css"))
    assert len(gzip.compress(minify_css(text).encode())) <= MOST_BYTES


def test_minifying_css_keeps_its_meaning() -> None:
    """Cases: quoted text, descendants, sums, a space before a pseudo-class."""
    rules = '.a :is(b, i) > c::before {\n  content: "$ " / "";\n  width: calc(100% - 2px);\n}'
    style = f"/* why */\n{rules}\n@media (a: b) {{ d {{ e: f }} }}\n"
    assert (
        minify_css(style) == '.a :is(b,i) > c::before{content:"$ " / "";width:calc(100% - 2px);}@media (a:b){d{e:f}}\n'
    )
