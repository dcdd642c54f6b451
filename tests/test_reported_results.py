"""Test verdicts of reported claims: ratios from rows, what each kind of row supports, and the gates' edges."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headroom import rules
from headroom.cli import main
from headroom.io.safe_read import UnreadableError
from headroom.records import ReportedClaim, load
from headroom.records.published_comparisons import PublishedComparison
from headroom.records.published_rows import Published, Table, _parsed
from headroom.site.claims import citation, claim_page, phrasing, reported_claim
from headroom.site.exports.claims_json import published as exported
from headroom.site.matrix import outcomes
from headroom.site.site_data import SiteData
from headroom.verdicts.published_gates import faults
from headroom.verdicts.reported_results import Reported, judge_claim

ROOT = Path(__file__).parents[1]
CLEAN = ROOT / "tests/rule_cases/clean"
RATE, TIME = "training.clever.published-rate", "training.clever.published-step-time"
CLEAN_TREE = load(CLEAN)


def claim(of: str = RATE, **changed: object) -> ReportedClaim:
    """Return a reported claim of the clean tree with other values."""
    found = CLEAN_TREE.claims[of]
    assert isinstance(found, ReportedClaim)
    return found.model_copy(update=changed)


def record(of: str = "clever-a100", **changed: Any) -> PublishedComparison:
    """Return a comparison of the clean tree with other values of fields; a mapping changes a nested record."""
    found = CLEAN_TREE.published.comparisons[of]
    nested = {
        name: getattr(found, name).model_copy(update=value) if isinstance(value, Mapping) else value
        for name, value in changed.items()
    }
    return found.model_copy(update=nested)


def rows(text: str, *records: PublishedComparison) -> Published:
    """Return published comparisons with these rows in place of their own."""
    columns, found = _parsed(text)
    table = Table(columns, found, "0" * 64)
    changed = [each.model_copy(update={"rows": each.rows.model_copy(update={"sha256": "0" * 64})}) for each in records]
    return Published(
        comparisons={each.id: each for each in changed},
        tables={each.rows.file: table for each in changed},
        licences=CLEAN_TREE.published.licences,
    )


def judged(values: Mapping[str, tuple[float, float]], of: ReportedClaim, **changed: Any) -> Reported:
    """Return the verdict on reruns with these rates of subject and baseline."""
    lines = [
        f"{name},{arm},4,{value},1"
        for name, pair in values.items()
        for arm, value in zip(("clever", "plain"), pair, strict=True)
    ]
    return judge_claim(of, rows("run,arm,batch_size,rate,loss\n" + "\n".join(lines) + "\n", record(**changed)))


def test_reruns_give_the_median_of_paired_ratios_and_their_range() -> None:
    found = judged({"a": (110, 100), "b": (390, 300), "c": (60, 50)}, claim())
    result = found.result()
    assert (found.status, found.reason) == ("agrees", "3 of 3 reruns")
    assert (result.ratio, result.low, result.high) == pytest.approx((1.2, 1.1, 1.3))
    assert (result.subject, result.baseline) == (110, 100)


@pytest.mark.parametrize(
    ("relation", "margin", "ratios", "status"),
    [
        ("better", None, (1.1, 1.2), "agrees"),
        ("better", None, (1.01, 1.2), "mixed"),
        ("better", None, (0.9, 1.0), "disagrees"),
        ("worse", None, (0.4, 0.5), "agrees"),
        ("worse", None, (0.99, 1.5), "disagrees"),
        ("not_worse", 0.05, (0.96, 3.0), "agrees"),
        ("not_worse", 0.05, (0.9, 3.0), "mixed"),
        ("equal_within", 0.05, (0.96, 1.04), "agrees"),
        ("equal_within", 0.05, (0.9, 1.1), "disagrees"),
    ],
)
def test_relation_decides_the_verdict(
    relation: str, margin: float | None, ratios: tuple[float, ...], status: str
) -> None:
    values = {str(i): (ratio * 100, 100.0) for i, ratio in enumerate(ratios)}
    assert judged(values, claim(relation=relation, margin=margin)).status == status


def test_windows_give_the_ratio_of_the_medians_without_a_range() -> None:
    """Windows of one run are no independent runs: only the medians count."""
    found = judged({"1": (120, 100), "2": (50, 100), "3": (130, 90)}, claim(), raw="windows")
    assert (found.status, found.result().low, found.result().high) == ("agrees", None, None)
    assert found.result().ratio == pytest.approx(1.2)


def test_quantiles_give_the_range_between_opposite_percentiles() -> None:
    found = judge_claim(claim(TIME, relation="better"), CLEAN_TREE.published)
    result = found.result()
    assert (result.ratio, result.low, result.high) == pytest.approx((15 / 10, 14 / 11, 16 / 9))
    assert (result.subject, result.baseline) == pytest.approx((0.010, 0.015))


def test_single_value_has_no_interval() -> None:
    one = record("clever-h100", raw="single", metric={"p20": None, "p80": None}, rows={"outcomes": ("p20", "p80")})
    published = rows((CLEAN / "checks/published/clever/quantiles.csv").read_text("utf-8"), one)
    result = judge_claim(claim(TIME), published).result()
    assert (result.low, result.high, result.ratio) == (None, None, 1.5)


def test_disagreeing_sources_are_mixed_and_both_kept() -> None:
    lines = "run,arm,batch_size,rate,loss\na,clever,4,120,1\na,plain,4,100,1\nb,clever,4,120,1\nb,plain,4,100,1\n"
    reversed_arms = {"subject": {"arm": "plain"}, "baseline": {"arm": "clever"}}
    found = judge_claim(claim(), rows(lines, record(), record(id="other", select=reversed_arms)))
    assert (found.status, found.reason) == ("mixed", "1 of 2 published comparisons")
    assert [each.word for each in found.results] == ["agrees", "disagrees"]


def test_faulty_comparison_does_not_count() -> None:
    found = judged({"a": (110, 100), "b": (-1, 100)}, claim())
    assert (found.status, found.results) == ("unmeasured", ())


@pytest.mark.parametrize("cell", ["nan", "inf", "0", "-3", "", "1e999", "1_000", "0x10", ".", "e5"])
def test_cell_that_is_no_positive_number_is_a_fault(cell: str) -> None:
    lines = f"arm,median\nclever,{cell}\nplain,2\n"
    one = record("clever-h100", raw="single", metric={"p20": None, "p80": None}, exceptions=())
    published = rows(lines, one)
    found = faults(published.comparisons[one.id], published)
    assert [each.field for each in found] == ["metric.column"]


@pytest.mark.parametrize(
    "text",
    ["", "a\n1\n", "a,a\n1,2\n", "a,b\n1\n", 'a,b\n"1\n', f"a,b\n1,{'x' * 3000}\n", "a,b\n" + "1,2\n" * 20_001],
)
def test_rows_beyond_a_limit_are_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        _parsed(text)


def test_tooltip_has_hardware_software_age_and_figures() -> None:
    site = SiteData.load(CLEAN)
    found = site.board.reported[RATE]
    sentence = reported_claim.sentence(claim(), found)
    age = "torch 2.4.1, February 2025 at the latest, 21 months before November 2026"
    assert all(each in sentence for each in ("NVIDIA A100 80GB", age, "1,200 tokens/s", "1.10 to 1.30 in 3 reruns"))
    assert reported_claim.word(found) == "reported: agrees"


def test_page_shows_rows_conditions_exceptions_licence_and_original() -> None:
    page = claim_page.render(claim(TIME), SiteData.load(CLEAN))
    for row in ("arm | clever | plain", "learning&#95;rate | 2e-4 | 2e-5", "p20 | 9.0 | 14.0"):
        assert f"| {row} |" in page
    assert "github.com/example/clever/blob/876e2ed6fc4e966785e3f4315f5ee3cdf8e3d097/results/h100.csv" in page
    for part in ("The arms have different learning rates.", "Not known: power limit", "Apache-2.0", "disagrees"):
        assert part in page


def test_columns_that_vary_within_an_arm_have_a_table_of_their_own() -> None:
    page = claim_page.render(claim(), SiteData.load(CLEAN))
    shared = (
        "| column | subject | baseline |\n| --- | --- | --- |\n| arm | clever | plain |\n| batch&#95;size | 4 | 4 |"
    )
    assert shared in page
    assert "| role | run | rate |\n| --- | --- | --- |\n| subject | first | 1300 |" in page
    assert "The copy also has these results" not in page


def test_other_results_that_vary_are_named_alone() -> None:
    """A table of every column that a source has would be wider than a page."""
    site = SiteData.load(ROOT)
    page = claim_page.render(site.tree.claims["training.qlora.throughput-mistral-7b"], site)
    names = next(line for line in page.split("\n") if "The copy also has these results of each row:" in line)
    assert "train&#95;loss" in names
    assert not any("train&#95;loss" in line for line in page.split("\n") if line.startswith("| role"))


def test_citation_begins_with_who_published_the_rows() -> None:
    """This project recomputed the ratio; others measured."""
    site = SiteData.load(CLEAN)
    source, own = citation.bibtex(claim(), site).split("\n\n")
    (record,) = site.tree.published.of(RATE)
    assert source.startswith(
        f"@misc{{headroom-{RATE.replace('.', '-')}-source-1,\n  title = {{{{Made-up benchmarks}}}},"
    )
    for row in ("author = {{a made-up laboratory}}", "year = 2025", f"url = {{{record.source.url}}}"):
        assert f"\n  {row},\n" in source
    assert own.startswith(f"@misc{{headroom-{RATE.replace('.', '-')},\n")
    assert ("Headroom contributors" in own, "Headroom" in source) == (True, False)


def test_words_for_a_reported_claim_never_claim_a_measurement() -> None:
    """Nothing that this project did not measure says so."""
    site = SiteData.load(CLEAN)
    found = site.board.reported[RATE]
    words = [reported_claim.word(found), reported_claim.sentence(claim(), found), *phrasing.BADGES["agrees"].split()]
    assert words[1].startswith("Reported: ")
    assert not any(word in text for text in words for word in ("supported", "measured"))


def test_export_has_the_result_and_no_verdict_of_a_measurement() -> None:
    found = exported(claim(), SiteData.load(CLEAN))
    assert (found.verdict, found.metric, found.standings) == ("agrees", "training throughput", {})
    assert found.reported is not None
    assert (found.reported[0].ratio, found.reported[0].n) == (pytest.approx(1.2), 3)


def test_matrix_cell_is_of_its_hardware_alone() -> None:
    site = SiteData.load(CLEAN)
    assert outcomes.published_hardware(site, claim()) == {"a100": "NVIDIA A100 80GB"}
    cell = outcomes.published(site, claim(), "a100")
    assert cell is not None
    assert (cell.word, cell.figures.replace("\u00a0", " ")) == ("reported: agrees", "1.10 to 1.30 times as fast")
    assert outcomes.published(site, claim(), "h100") is None


def test_verdict_command_prints_the_ratio_of_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verdict", RATE, "--root", str(CLEAN)]) == 0
    assert "agrees (reruns, 3 of 3 reruns), 1.2 [1.1, 1.3], 3 published ratios" in capsys.readouterr().out


def test_placeholder_of_a_figure_is_filled_from_the_rows(tmp_path: Path) -> None:
    root = Path(shutil.copytree(CLEAN, tmp_path / "tree"))
    page = root / "docs/training/gpu.md"
    page.write_text(page.read_text("utf-8").replace("[1.20×](claim", "[?](claim"), "utf-8")
    list(rules.apply(root, rules.Context.of(root)))
    assert "[1.20×](claim:training.clever.published-rate#ratio)" in page.read_text("utf-8")
