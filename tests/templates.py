"""Which kinds of page a built site has, and the page that stands for each: the largest."""

import json
from dataclasses import dataclass
from pathlib import Path

_MOVED = 'http-equiv="refresh"'
"""A page that only leads to another one: it has no template."""


@dataclass(frozen=True)
class Template:
    """The page that stands for a kind of page."""

    site: Path
    path: Path
    host: str

    @property
    def served(self) -> str:
        """Its address on the host; that of the page for what is missing is one that there is not."""
        if self.path.name == "404.html":
            return f"{self.host}/nowhere/at/all.html"
        return f"{self.host}/{self.path.relative_to(self.site).as_posix()}"


def representatives(site: Path) -> dict[str, Path]:
    """The largest page of each kind, by the kind's name. A kind that is added later is found by its folder."""
    kinds = _kinds_of_claims(site)
    found: dict[str, Path] = {}
    for path in sorted(site.rglob("*.html")):
        if _MOVED in path.read_text("utf-8"):
            continue
        kind = kinds.get(path.relative_to(site).as_posix()) or _kind(path, site)
        found[kind] = max(found.get(kind, path), path, key=lambda page: page.stat().st_size)
    return found


def _kind(path: Path, site: Path) -> str:
    """The folder at the top and how far below it a page lies, apart from pages that lead on to a folder of their name.

    An index, a page at the top and a page about all claims are each of a kind of their own.
    """
    name = path.relative_to(site).with_suffix("")
    if path.with_suffix(".ipynb").is_file():
        return "notebook"
    top, *between = name.parent.parts or ("",)
    if top in ("", "claims") or path.stem == "index":
        return name.as_posix()
    hub = " hub" if path.with_suffix("").is_dir() else ""
    return f"{top}/{'*/' * len(between)}{hub}"


def _kinds_of_claims(site: Path) -> dict[str, str]:
    """What claims.json says of each claim's page: how it is known, whether it is swept or retired."""
    claims = json.loads((site / "claims.json").read_text("utf-8"))["claims"]
    return {claim["page"]: _kind_of_claim(claim) for claim in claims}


def _kind_of_claim(claim: dict[str, object]) -> str:
    standings = claim["standings"]
    assert isinstance(standings, dict)
    states = {found["status"] for found in standings.values()} & {"disputed"}
    swept = any(len(found.get("points", ())) > 1 for found in standings.values())
    words = [str(claim["kind"]), *states, *["swept"][: int(swept)], *["retired"][: int(claim["state"] != "active")]]
    return " ".join([*words, "claim"])
