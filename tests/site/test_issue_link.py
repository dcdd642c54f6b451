"""The links from a claim's page to a new issue with filled-in fields."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import markdown
import pytest
import yaml

from built_sites import Page
from headroom.site.claims import claim_page, issue_link
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]
HOST = "https://github.com/somebody/headroom"


@pytest.fixture(scope="module")
def hosted(site: SiteData) -> SiteData:
    """Return the small tree with a repository."""
    return replace(site, repository=HOST)


def addresses(site: SiteData, name: str, tmp_path: Path) -> list[str]:
    """Return the addresses of new issues on a claim's page."""
    text = claim_page.render(site.tree.claims[f"training.{name}"], site).split("\n---\n", 1)[1]
    page = tmp_path / "page.html"
    page.write_text(markdown.markdown(text, extensions=["tables"]), "utf-8")
    return [link for link in Page(page).links if link.startswith(f"{HOST}/issues/")]


def filled(address: str) -> dict[str, str]:
    """Return the fields that an address fills in."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query, strict_parsing=True).items()}


def test_a_link_per_class_fills_in_verdict_figures_and_versions(hosted: SiteData, tmp_path: Path) -> None:
    (address,) = addresses(hosted, "time", tmp_path)
    assert urlsplit(address).path == "/somebody/headroom/issues/new"
    found = filled(address)
    assert found.pop("said") == ("supported (clear) on 2026-11-20: supported 1.243 [1.231, 1.255]")
    assert found == {
        "template": "claim-is-wrong.yml",
        "title": "training.time is not so",
        "claim": "training.time",
        "page": "claims/training/time.html",
        "class": "cpu",
        "versions": "python 3.11.7, torch 2.13.0",
    }


def test_each_point_of_a_sweep_is_filled_in(hosted: SiteData, tmp_path: Path) -> None:
    (address,) = addresses(hosted, "sweep", tmp_path)
    assert "; at batch_size=8 supported 1." in filled(address)["said"]


def test_an_unmeasured_claim_has_one_link(hosted: SiteData, tmp_path: Path) -> None:
    (address,) = addresses(hosted, "cited", tmp_path)
    assert set(filled(address)) == {"template", "title", "claim", "page"}


def test_every_query_key_is_a_field_of_the_form(hosted: SiteData, tmp_path: Path) -> None:
    """GitHub silently ignores unknown keys."""
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE" / issue_link.FORM).read_text("utf-8"))
    ids = {field.get("id") for field in form["body"]}
    for claim in hosted.tree.claims:
        for address in addresses(hosted, claim.removeprefix("training."), tmp_path):
            assert set(filled(address)) - {"template", "title"} <= ids
            assert filled(address)["template"] == issue_link.FORM


def test_hostile_versions_stay_inside_their_field(hosted: SiteData, tmp_path: Path) -> None:
    claim = hosted.tree.claims["training.time"]
    (session,) = (each for each in hosted.tree.sessions if each.head.benchmark == "timed")
    odd = 'x" onclick="y) ](z & title=other#a <b> \\'
    environment = session.head.environment.model_copy(update={"versions": {odd: odd}})
    other = replace(session, evidence=session.evidence.model_copy(update={"environment": environment}))
    standing = replace(hosted.board.of(claim, "cpu"), session=other)
    board = replace(hosted.board, standings={**hosted.board.standings, claim.id: {"cpu": standing}})
    (address,) = addresses(replace(hosted, board=board), "time", tmp_path)
    assert filled(address)["versions"] == f"{odd} {odd}"
    assert filled(address)["title"] == "training.time is not so"


def test_without_a_repository_there_is_no_link(site: SiteData) -> None:
    assert "issues/new" not in claim_page.render(site.tree.claims["training.time"], site)
