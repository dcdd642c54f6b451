"""The topology reader of the page on links between GPUs: its data, its scripts and its style sheet."""

import json
from typing import Final

from headroom.pictures import svg_style
from headroom.pictures.text_width import EMS
from headroom.site.site_data import SiteData
from headroom.topology.wording import SENTENCES

PAGE: Final = "hardware/interconnect.md"
STYLE: Final = "assets/topology.css"
DATA: Final = "assets/topology-data.js"
_CLASSES: Final = "box soft s m b red halo mid ln rd tl thick"
_NAME: Final = "picture-topology"


def files(site: SiteData) -> dict[str, str]:
    """Return the generated script with the sentences and the style of the drawing; none without the page."""
    return {DATA: script()} if _has_page(site) else {}


def scripts(site: SiteData) -> dict[str, tuple[str, ...]]:
    """Return the scripts of the page, by its path below docs/."""
    return {PAGE: (DATA, "assets/topology.js")} if _has_page(site) else {}


def script() -> str:
    """Return a script that defines ``topologySentences`` and ``topologyStyle``."""
    drawing = {
        "ems": EMS,
        "rules": svg_style.style(_NAME, ["bad"], f'class="{_CLASSES}"'),
        "patterns": svg_style.pattern(_NAME, "bad"),
    }
    values = {"topologySentences": SENTENCES, "topologyStyle": drawing}
    return "".join(f"const {name}={json.dumps(each, ensure_ascii=False)}\n" for name, each in values.items())


def _has_page(site: SiteData) -> bool:
    return any(page.path == f"docs/{PAGE}" for page in site.pages)
