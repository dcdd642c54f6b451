"""Pages, links and exports of modelled claims, and the trade-offs section of measured ones."""

import json
import shutil
from html import unescape
from pathlib import Path
from re import sub
from xml.etree.ElementTree import Element

import markdown
import pytest

from headroom.records import MeasuredClaim, ModelledClaim
from headroom.site import claim_links, exports
from headroom.site.claims import claim_page, modelled_claim, tradeoffs
from headroom.site.markdown_blocks import percent, signed
from headroom.site.site_data import PageContext, SiteData
from headroom.verdicts.paired_blocks import RunLayout, blocks

CLEAN = Path(__file__).parents[1] / "rule_cases" / "clean"
RECORD = "checks/registry/training/clever-kept-model.yml"
MODEL, PAGE = "training.clever.kept-model", PageContext("training/words.md", ("h200",))


EXTENSIONS = ["tables", "attr_list", "md_in_html", "admonition", "pymdownx.superfences"]


def shown(html: str) -> str:
    """Return a page's visible text with normalised spaces."""
    return " ".join(unescape(sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ").split())


def tree(tmp_path: Path, old: str, new: str) -> SiteData:
    """Return the clean tree with a text of the model's record replaced."""
    root = tmp_path / "tree"
    shutil.copytree(CLEAN, root)
    text = (root / RECORD).read_text("utf-8")
    assert text.count(old) == 1
    (root / RECORD).write_text(text.replace(old, new), "utf-8")
    return SiteData.load(root)


def page_of(site: SiteData, name: str = MODEL) -> str:
    """Return the visible text of a claim's page."""
    text = claim_page.render(site.tree.claims[name], site).split("\n---\n", 1)[1]
    return shown(markdown.markdown(text, extensions=EXTENSIONS))


def resolved(site: SiteData, href: str, text: str = "") -> Element:
    """Return a link as the site shows it."""
    link = Element("a", {"href": href})
    link.text = text
    claim_links.resolve(link, site, PAGE)
    return link


@pytest.fixture(scope="module")
def site() -> SiteData:
    """Return the clean tree."""
    return SiteData.load(CLEAN)


class TestModelled:
    """A formula that agrees with the evidence."""

    def test_the_page_starts_with_computed_and_the_agreement(self, site: SiteData) -> None:
        """Check the result."""
        sentence = "computed Computed, not measured: what the clever method keeps, 100 MiB; validated at 1 point"
        assert f"{sentence}, largest error 0 %." in page_of(site)

    def test_the_page_shows_the_formula_and_the_source_of_each_variable(self, site: SiteData) -> None:
        """Check a given value, a measured figure and a fact."""
        page = page_of(site)
        assert "whole * min(share, limit)" in page
        assert "share the share that the method is made for 0.25 given" in page
        assert "whole what the plain method keeps 400 MiB saved-activation memory, plain" in page
        assert "limit no share is larger 65,504 IEEE 754-2019" in page

    def test_the_page_compares_each_measurement_with_the_prediction(self, site: SiteData) -> None:
        """Check the error and the tolerance."""
        row = "saved-activation memory, clever batch_size 8 whole of training.clever.saved-memory"
        assert f"{row} 100 MiB 100 MiB 0 % 1 %" in page_of(site)

    def test_the_page_shows_validity_fit_and_what_is_not_claimed(self, site: SiteData) -> None:
        """Check all three fields of the record."""
        page = page_of(site)
        assert "share: at least 0.1 and at most 1" in page
        assert "Fitted on step time, ratio of clever ." in page
        assert "Anything about other models." in page

    def test_links_show_badge_figure_or_summary(self, site: SiteData) -> None:
        """The title is the sentence."""
        link = resolved(site, f"claim:{MODEL}", "formula")
        assert [(each.get("class"), each.text) for each in link] == [("badge badge-modelled", "computed")]
        assert link.get("title", "").startswith("Computed, not measured")
        figure = resolved(site, f"claim:{MODEL}#value,share=0.5")
        assert (figure.get("class"), figure.text) == ("claim-figure", "200 MiB")
        summary = resolved(site, f"claim:{MODEL}")
        assert "".join(summary.itertext()) == "100 MiB what the clever method keeps computed"

    def test_index_and_export_have_the_claim(self, site: SiteData) -> None:
        """Check the measurements in the export."""
        text = exports.index(site).split("\n---\n", 1)[1]
        assert "computed 100 MiB what the clever method keeps" in shown(markdown.markdown(text, extensions=EXTENSIONS))
        (exported,) = [each for each in json.loads(exports.claims_json(site))["claims"] if each["id"] == MODEL]
        model = exported["model"]
        assert exported["kind"] == "modelled"
        assert model["status"] == "modelled"
        assert model["predicts"] == {
            "name": "what the clever method keeps", "unit": "MiB", "value": 100.0, "low": 100.0, "high": 100.0,
        }  # fmt: skip
        assert [(each["predicted"], each["measured"]) for each in model["validated_by"]] == [(100.0, 100.0)]


class TestOthers:
    """Formulas that are wrong or not validated."""

    def test_a_contradicted_formula_is_marked(self, tmp_path: Path) -> None:
        """Check the error."""
        site = tree(tmp_path, "share: {value: 0.25", "share: {value: 0.3")
        page = page_of(site)
        assert "computed, contradicted Computed, not measured" in page
        assert "compared at 1 point, largest error 20 %, 1 outside the tolerance. The evidence disagrees." in page
        assert "120 MiB 100 MiB +20 %, too far 1 %" in page

    def test_a_formula_without_measurements_is_marked_as_not_validated(self, tmp_path: Path) -> None:
        """Check what is missing."""
        edit = ("  - claim: training.clever.saved-memory\n    figure: subject\n    hardware: cpu",
                "  - claim: training.clever.reserved-memory\n    figure: subject\n    hardware: h200")  # fmt: skip
        page = page_of(tree(tmp_path, *edit))
        assert "computed, not validated" in page
        assert "not known: training.clever.reserved-memory is not measured at this point" in page.replace("`", "")

    def test_a_formula_with_unmeasured_variables_has_no_result(self, tmp_path: Path) -> None:
        """The page shows no value."""
        edit = ("measured: {claim: training.clever.saved-memory, figure: baseline, hardware: cpu",
                "measured: {claim: training.clever.reserved-memory, figure: baseline, hardware: h200")  # fmt: skip
        site = tree(tmp_path, *edit)
        page = page_of(site)
        assert "what the clever method keeps, not known yet" in page
        assert "what the plain method keeps not measured yet" in page
        model = site.tree.claims[MODEL]
        assert isinstance(model, ModelledClaim)
        assert modelled_claim.exported(model, site.board.models[MODEL])["predicts"]["value"] is None

    def test_a_noisy_variable_gives_a_range(self, tmp_path: Path) -> None:
        """Check both ends and the explanation."""
        edit = ("measured: {claim: training.clever.saved-memory, figure: baseline, hardware: cpu",
                "measured: {claim: training.clever.step-time, figure: baseline, hardware: cpu")  # fmt: skip
        root = tmp_path / "tree"
        site = tree(tmp_path, *edit)
        text = (root / RECORD).read_text("utf-8").replace("keeps, unit: MiB", "keeps, unit: ms")
        (root / RECORD).write_text(text, "utf-8")
        page = page_of(SiteData.load(root))
        assert site.board.models[MODEL].faults
        assert "what the clever method keeps, 200 ms, within 0.38 %;" in page
        assert "the plain method keeps 800 ms, from 798 ms to 802 ms" in page
        assert "The range covers the formula's results" in page

    def test_amounts_have_a_readable_unit(self) -> None:
        """Check units with and without a choice."""
        assert modelled_claim.amount(float("inf"), "s") == "without a bound"
        assert modelled_claim.amount(1234.5, "B/parameter") == "1,234 B/parameter"
        assert modelled_claim.amount(2048.0, "MiB") == "2.00 GiB"


class TestTradeoffs:
    """The same runs' other metrics, and the agreement of the outputs."""

    def test_other_metrics_of_the_session_are_listed(self, site: SiteData) -> None:
        """Check ratio and interval per point, and the link to their claim."""
        page = page_of(site, "training.clever.saved-memory")
        assert "Measured in the same runs, for the same two arms:" in page
        assert "step time all 800 ms 560 ms 1.43 times faster ratio 1.43, 99 % interval 1.43 to 1.43 10" in page

    def test_claims_of_other_sessions_are_linked(self, site: SiteData) -> None:
        """Check their badges on this hardware."""
        page = page_of(site, "training.clever.step-time")
        assert "Claims about the same two arms from other runs:" in page
        assert "With the clever method the allocator holds fewer bytes than without." in page

    def test_the_agreement_of_outputs_is_given(self, site: SiteData) -> None:
        """Check the allowed difference."""
        page = page_of(site, "training.clever.saved-memory")
        assert "in all 10 pairs of runs the output, usually the loss, is the same to the last digit; 0.01 % was" in page

    def test_the_claims_own_metric_is_not_repeated(self, site: SiteData) -> None:
        """The top of the page shows it already."""
        page = page_of(site, "training.clever.saved-memory")
        part = page.partition("What else it changes")[2].partition("What is not claimed")[0]
        assert "step time" in part
        assert "saved-activation" not in part

    def test_the_largest_difference_of_outputs_is_reported(self, site: SiteData) -> None:
        """One different pair of ten must not be averaged away."""
        claim = site.tree.claims["training.clever.saved-memory"]
        assert isinstance(claim, MeasuredClaim)
        session = site.board.standings[claim.id]["cpu"].session
        assert session
        paired = blocks(claim, RunLayout(session.evidence), {"batch_size": 8})
        odd = paired[3]._replace(subject=paired[3].subject.model_copy(update={"output": 1.005}))
        text = tradeoffs.result(claim, [*paired[:3], odd, *paired[4:]]).replace("\u00a0", " ")
        assert "the same within 0.5 %; 0.01 % was allowed" in text

    def test_the_quality_given_up_is_reported(self, site: SiteData) -> None:
        """Check the interval and the limit."""
        page = page_of(site, "training.moody.step-time")
        assert "Quality given up: loss. The loss that the first step returns." in page
        assert "Over 10 pairs of runs it is worse by 0 %, with a 99 % interval of 0 % to 0 %" in page
        assert "At most 1 % is allowed." in page

    def test_a_claim_without_a_session_has_no_section(self, site: SiteData) -> None:
        """Nothing was measured."""
        assert "What else it changes" not in page_of(site, "training.clever.reserved-memory")

    def test_every_measured_claim_with_a_session_has_the_section(self, site: SiteData) -> None:
        """Check all verdicts."""
        for claim in site.tree.claims.values():
            if isinstance(claim, MeasuredClaim):
                counts = any(found.verdict for found in site.board.standings[claim.id].values())
                assert ("What else it changes" in page_of(site, claim.id)) is counts, claim.id


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0\u00a0%"), (0.05, "5\u00a0%"), (0.123456, "12\u00a0%"), (2, "200\u00a0%"), (2.9e-6, "0.00029\u00a0%"),
     (1.9e-7, "less than 0.0001\u00a0%")],
)  # fmt: skip
def test_small_shares_are_not_rounded_to_nothing(share: float, text: str) -> None:
    assert percent(share) == text
    sign = share and text[0].isdigit()
    assert signed(share) == (f"+{text}" if sign else text)
    assert signed(-share) == (f"\u2212{text}" if sign else text)
