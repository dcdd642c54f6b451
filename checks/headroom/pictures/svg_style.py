"""The visual grammar of all pictures: one fill per component of memory, text sizes, lines and marks.

Each SVG holds only the rules and patterns that it uses, limited to its own id, so that pages without pictures carry
none of them. Colours are the site's CSS variables and follow light and dark.
"""

import re
from collections.abc import Iterable
from typing import Final

# A component's letter (f and b: compute of the forward and of the backward pass), the CSS variable, its share of the
# ground in per cent, the lines drawn over it, and the tile.
PATTERNS: Final[dict[str, tuple[str, int, str, int]]] = {
    "w": ("slate", 34, "", 6),
    "o": ("violet", 16, "M-1 1L1-1M0 6L6 0M5 7L7 5", 6),
    "g": ("amber", 16, "M1.5 1.5h1M4.5 4.5h1", 6),
    "a": ("teal", 16, "M0 2H5", 5),
    "l": ("ink", 10, "M0 0L6 6M0 6L6 0", 6),
    "x": ("muted", 6, "M0 0L8 8M-1 7L1 9M7-1L9 1", 8),
    "bad": ("red", 10, "M0 0L6 6M0 6L6 0", 6),
    "f": ("teal", 34, "", 6),
    "b": ("teal", 20, "M-1 1L1-1M0 4L4 0M3 5L5 3", 4),
}
COMPONENTS: Final = {
    "weights": "w",
    "optimizer states": "o",
    "gradients": "g",
    "saved activations": "a",
    "hidden states": "a",
    "KV cache": "f",
    "logits": "l",
    "temporaries": "x",
    "rate": "w",
}
"""Every part of a bar with its fill, from the bottom of a stack to its top. It is the same in all pictures."""
_NOT_OF_A_STEP: Final = ("hidden states", "KV cache", "rate")
TRAINING: Final = {name: fill for name, fill in COMPONENTS.items() if name not in _NOT_OF_A_STEP}
"""The components of the memory of a training step."""
_RULES: Final = (
    "text{fill:var(--ink);font:400 12px var(--md-text-font);font-variant-numeric:tabular-nums}"
    ".s{font-size:11px}.h1{font-size:13px;font-weight:600}.b{font-weight:600}.m{fill:var(--muted)}"
    ".red{fill:var(--red)}.teal{fill:var(--teal)}"
    ".halo{paint-order:stroke;stroke:var(--paper);stroke-linejoin:round;stroke-width:3px}"
    ".ln{fill:none;stroke:var(--ink);stroke-width:1.5}.tk{fill:none;stroke:var(--line)}"
    ".mu{fill:none;stroke:var(--muted)}.in{fill:none;stroke:var(--ink);stroke-width:2}"
    ".rd{fill:none;stroke:var(--red);stroke-width:2}"
    ".thick{stroke-width:4}.gap{fill:none;stroke:var(--paper);stroke-width:8}.tl{fill:none;stroke:var(--teal);stroke-width:2}"
    ".cells{fill:none;stroke-width:14}.am{fill:none;stroke:var(--amber);stroke-width:2}"
    ".dash{stroke-dasharray:4 3}.head{fill:var(--ink)}.headm{fill:var(--muted)}"
    ".box{fill:var(--paper);stroke:var(--ink);stroke-width:1.25}.soft{fill:var(--shade);stroke:var(--line)}"
    ".mark{fill:var(--paper);stroke:var(--ink);stroke-width:2}.full{fill:var(--teal);stroke:var(--paper)}"
    ".mid{text-anchor:middle}.end{text-anchor:end}.none{fill:none;stroke:var(--muted);stroke-dasharray:2 2}"
    ".bare{stroke:none!important}"
)


def style(name: str, used: Iterable[str], drawn: str) -> str:
    """Return the CSS rules of one SVG that its drawing needs; a picture is named once per page."""
    classes = {each for value in re.findall(r'class="([^"]*)"', drawn) for each in value.split()}
    rules = (f"{rule}}}" for rule in _RULES.split("}") if rule)
    needed = [rule for rule in rules if rule[0] != "." or rule[1:].split("{")[0] in classes]
    needed += [f".p-{each}{{fill:url(#{name}-{each});stroke:var(--{PATTERNS[each][0]})}}" for each in used]
    return "".join(f"#{name} {rule}" for rule in needed)


def pattern(name: str, component: str) -> str:
    """Return the SVG pattern that fills a component."""
    colour, share, lines, tile = PATTERNS[component]
    ground = f"fill:color-mix(in srgb,var(--{colour}) {share}%,var(--paper))"
    over = f'<path style="stroke:var(--{colour});stroke-opacity:.55" d="{lines}"/>' if lines else ""
    return (
        f'<pattern id="{name}-{component}" width="{tile}" height="{tile}" patternUnits="userSpaceOnUse">'
        f'<path style="{ground}" d="M0 0H{tile}V{tile}H0z"/>{over}</pattern>'
    )
