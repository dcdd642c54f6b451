"""Badge, sentence and page of a cited claim."""

from typing import Any

import pytest

from factories import CITED
from headroom.records import CitedClaim
from headroom.site.claims import cited_claim
from headroom.site.site_data import PageContext


def a_claim(source: str = "paper", **changes: Any) -> CitedClaim:
    """Return the cited claim of the small tree with this source type and these fields changed."""
    return CitedClaim.model_validate({**CITED, "source": {**CITED["source"], "type": source}, **changes})


def page(claim: CitedClaim) -> str:
    """Return the claim's page below the title."""
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
def test_the_source_type_is_given_in_words(source: str, words: str) -> None:
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
def test_badge_and_sentence_name_who_reports_the_claim(independence: str, short: str, words: str) -> None:
    claim = a_claim(independence=independence)
    assert cited_claim.word(claim) == short
    assert cited_claim.sentence(claim).startswith(words)
    assert "Independence: Measured" in page(claim)


def test_only_a_web_page_has_a_warning() -> None:
    assert cited_claim.word(a_claim("web")) == "cited: authors, web page"
    assert '!!! warning "A web page"' in page(a_claim("web"))
    assert "!!! warning" not in page(a_claim("documentation"))


@pytest.mark.parametrize(
    ("stated", "words"),
    [("8 A100", "on 8 A100;"), ("none stated", "on hardware that is not stated;"),
     ("not stated in the abstract", "on hardware that is not stated;")],
)  # fmt: skip
def test_the_hardware_is_given_as_the_source_states_it(stated: str, words: str) -> None:
    assert cited_claim.sentence(a_claim(hardware_as_stated=stated)).endswith(f"{words} not measured here.")
