"""What the site says of a cited claim: by whom, in what kind of source, of which hardware."""

from typing import Any

import pytest

from factories import CITED
from headroom.records import CitedClaim
from headroom.site.claims import cited_claim
from headroom.site.site_data import PageContext


def a_claim(source: str = "paper", **changes: Any) -> CitedClaim:
    """The cited claim of the other tests, from such a source, with these fields changed."""
    return CitedClaim.model_validate({**CITED, "source": {**CITED["source"], "type": source}, **changes})


def page(claim: CitedClaim) -> str:
    """Its page below the title."""
    return "\n".join(cited_claim.render(claim, PageContext()))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("paper", "in a paper of 2024"),
        ("vendor", "in a vendor's publication of 2024"),
        ("documentation", "in project documentation of 2024"),
        ("web", "in a web page of 2024"),
    ],
)
def test_kind_of_source_is_told_in_words(source: str, words: str) -> None:
    """In the sentence behind the badge, and on the page."""
    assert words in cited_claim.sentence(a_claim(source))
    assert f"Kind of source: {words[3:-8]}" in page(a_claim(source))


@pytest.mark.parametrize(
    ("independence", "short", "words"),
    [
        ("author", "cited: authors", "Reported by its authors themselves, A. Author,"),
        ("vendor", "cited: vendor", "Reported by its vendor, A. Author,"),
        ("independent", "cited: independent", "Reported by a third party, A. Author,"),
    ],
)
def test_who_reports_it_is_told_in_the_badge_and_behind_it(independence: str, short: str, words: str) -> None:
    """A vendor's own figure is not taken for an independent one."""
    claim = a_claim(independence=independence)
    assert cited_claim.word(claim) == short
    assert cited_claim.sentence(claim).startswith(words)
    assert "Independence: Measured" in page(claim)


def test_a_web_page_is_warned_of() -> None:
    """In its badge and on its page; no other source is."""
    assert cited_claim.word(a_claim("web")) == "cited: authors, web page"
    assert '!!! warning "A web page"' in page(a_claim("web"))
    assert "!!! warning" not in page(a_claim("documentation"))


@pytest.mark.parametrize(
    ("stated", "words"),
    [("8 A100", "on 8 A100;"), ("none stated", "on hardware that is not stated;"),
     ("not stated in the abstract", "on hardware that is not stated;")],
)  # fmt: skip
def test_hardware_is_told_as_the_source_states_it(stated: str, words: str) -> None:
    """Or that it states none."""
    assert cited_claim.sentence(a_claim(hardware_as_stated=stated)).endswith(f"{words} not measured here.")
