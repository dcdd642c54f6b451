"""The page of one claim, the index and claims.json."""

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from re import findall, sub

import markdown
import pytest

from headroom.io import markdown_escape
from headroom.site import exports
from headroom.site.claims import claim_page, phrasing
from headroom.site.site_data import SiteData
from headroom.verdicts import Board, judge

EXTENSIONS = ["tables", "attr_list", "md_in_html", "admonition", "pymdownx.details", "pymdownx.superfences"]


def html_of(site: SiteData, name: str) -> str:
    """Return a claim's page as HTML, without its front matter."""
    body = claim_page.render(site.tree.claims[f"training.{name}"], site).split("\n---\n", 1)[1]
    return markdown.markdown(body, extensions=EXTENSIONS)


def shown(html: str) -> str:
    """Return a page's visible text with normalised spaces."""
    return " ".join(unescape(sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ").split())


def test_the_page_starts_with_a_verdict_per_class(site: SiteData) -> None:
    page = shown(html_of(site, "time"))
    assert page.startswith(
        "Clever is faster measured On an x86 server CPU (Made-up Xeon) with torch 2.13.0: step time 20 % shorter. "
        "Ratio 1.24, 99 % interval 1.23 to 1.26; 20 blocks, 20 November 2026. "
        "not measured on a GPU yet On an H200: not measured yet."
    )


def test_measured_classes_come_before_unmeasured_ones(site: SiteData) -> None:
    standings = site.board.standings["training.time"]
    moved = {"cpu": standings["h200"], "h200": standings["cpu"]}
    other = replace(site, board=Board({**site.board.standings, "training.time": moved}))
    assert shown(html_of(other, "time")).startswith("Clever is faster measured On an H200")


def test_a_carried_over_verdict_names_its_source_class(site: SiteData) -> None:
    assert "counted on a CPU On an H200: saved-activation memory carries over from an x86 server CPU." in shown(
        html_of(site, "memory")
    )


def test_a_sweeps_verdict_names_the_range_where_it_holds(site: SiteData) -> None:
    page = shown(html_of(site, "sweep"))
    assert (
        "saved-activation memory 1.53 to 3.52 times less from 8 sequences up; worse at 1 sequence: 1.50 times more. "
        "Measured at 1, 8 and 64 sequences, 20 blocks each, 20 November 2026."
    ) in page
    assert "1 sequence (shown, not claimed)" in shown(html_of(site, "part"))


def test_the_page_shows_conditions_statistics_environment_and_raw_data(site: SiteData) -> None:
    html = html_of(site, "memory")
    page = shown(html)
    for text in (
        "Compared: clever with the baseline plain",
        "Held fixed: dtype fp32, model gpt2",
        "that it is faster",
        "before → after verdict ratio interval blocks 3.20 GiB → 1.10 GiB supported 2.91 exactly 20",
        "point baseline control reason all 3.20 GiB 3.20 GiB supported: clear",
        "Machine: Made-up Xeon, 8 cores, 1 used, 128 GiB, Linux 6.1 x86_64, virtualised, load before 0.1",
        "Not known: clock, temperature",
        "headroom reproduce training.memory",
    ):
        assert text in page
    assert '--8<-- "checks/benchmarks/fixed.py"' in claim_page.render(site.tree.claims["training.memory"], site)
    (session,) = [s for s in site.tree.sessions if s.evidence.benchmark == "fixed"]
    assert f'href="../../{session.path.removeprefix("checks/")}"' in html


def test_evidence_of_a_changed_benchmark_is_shown_but_does_not_count(own_root: Path) -> None:
    (own_root / "checks/benchmarks/fixed.py").write_text('"""Changed."""\n\nARMS = ("plain", "clever")\n')
    page = shown(html_of(SiteData.load(own_root), "memory"))
    assert "On an x86 server CPU: not measured yet (its benchmark has changed)." in page
    assert "void not measured yet not counted: its benchmark has changed since" in page


def test_the_history_lists_every_session(site: SiteData) -> None:
    page = shown(html_of(site, "disputed")).partition("History")[2]
    assert "supported: clear measured first evidence" in page
    assert "contradicted: reversed disputed new evidence contradicts an older session" in page
    assert page.index("20 November 2026") < page.index("19 November 2026")


def test_a_cited_claims_page_names_its_source_and_hardware(site: SiteData) -> None:
    page = shown(html_of(site, "cited"))
    reported = "Reported by its authors themselves, A. Author, in a paper of 2024 (On cleverness, Table 2), on 8 A100; "
    assert f"cited: authors {reported}not measured here." in page
    assert "“clever ran 2.0x faster on 8 A100”" in page
    assert "Kind of source: a paper" in page
    assert "Independence: Measured by the authors of the method." in page
    assert "Read on 1 November 2026" in page
    assert "A web page" not in page
    assert "speed 2.0x" in page


def test_markup_in_a_statement_is_escaped(site: SiteData) -> None:
    html = html_of(site, "hostile")
    assert "<script>" not in html
    assert "javascript:alert(2)" in unescape(html)
    assert 'href="javascript' not in html
    statement = site.tree.claims["training.hostile"].statement
    assert shown(html).startswith(statement)
    assert "<em>" not in html
    index = markdown.markdown(exports.index(site).split("\n---\n", 1)[1], extensions=EXTENSIONS)
    assert statement in shown(index)
    assert "<script" not in index


@pytest.mark.parametrize(
    "text",
    [
        *("a_b_c", "1. x", "12.", "1.5 x. y", "# x", "&amp;", "a  |  b", "\\*", "<!-- x -->", "é→×"),
        *("--8<-- x", ";--8<-- x", "- x", "a - b", "a-b", "---", "+ x", ". x", ": x", "a: b", "a:b", "http://x.y/z"),
        *("/", "x, y; z", "50 %", "a) (b", "??? x", "!!! x", "=== x", "/// x", "::: x", "{ .x }", "a { .x }"),
        *("[x]: y", "*[x]: y", "[^1]", "$x$", "&#38;#46;"),
    ],
)
def test_escaped_text_renders_as_itself(text: str) -> None:
    """Only runs of spaces collapse."""
    html = markdown.markdown(markdown_escape.text(text), extensions=EXTENSIONS)
    assert unescape(sub(r"</?p>", "", html)) == " ".join(text.split())


def test_harmless_punctuation_is_not_escaped() -> None:
    """Entities cost rendering time and make the Markdown hard to read."""
    text = "On a CPU, 2.5 times less: a well-known way; 50% or 3/4 of it."
    assert markdown_escape.text(text) == text


def test_every_claim_has_a_page_and_a_line_in_the_index(site: SiteData) -> None:
    pages = exports.pages(site)
    for claim in site.tree.claims.values():
        path = f"claims/{claim.id.replace('.', '/', 1)}.md"
        assert path in pages
        assert f"({path.removeprefix('claims/')})" in pages["claims/index.md"]


class TestIndex:
    """The index of all claims."""

    def test_comparisons_of_memory_estimates_are_listed_with_their_errors(self) -> None:
        """Where the site has their page; the status counts them."""
        page = exports.index(SiteData.load(Path(__file__).parents[2]))
        for name in ("published", "traced", "measured"):
            (row,) = (line for line in page.split("\n") if f"(../tools/estimate-errors.md#estimate-{name})" in line)
            assert "<strong>median " in row
            assert " %</strong>" in row
        assert page.count('data-status="modelled"') == int(findall(r">computed <small>(\d+)<", page)[0])

    def test_a_class_without_a_measurement_is_not_listed(self, site: SiteData) -> None:
        page = exports.index(site)
        assert "measurement yet</span>" not in page
        row = next(line for line in page.split("\n") if "training/unmeasured.md" in line)
        assert row.startswith('| <span data-status="unmeasured">')
        assert row.endswith("| – |")

    def test_a_row_has_its_status_ratio_and_hardware(self, site: SiteData) -> None:
        row = next(line for line in exports.index(site).split("\n") if "training/memory.md" in line)
        assert row.startswith('| <span data-status="supported">')
        assert "<strong>2.91×</strong> <small>saved-activation memory, " in row

    def test_claims_are_grouped_by_method_with_a_link_to_its_section(self, site: SiteData) -> None:
        page = exports.index(site)
        for claim in site.tree.claims.values():
            method = site.tree.methods.get(claim.method or "")
            group = page.partition(f" {{ #{claim.method or 'own'} data-search-exclude }}")
            assert f"({claim.id.replace('.', '/', 1)}.md)" in group[2].partition("\n## ")[0]
            if method:
                assert f"](../{method.section})" in group[0].rpartition("\n## ")[2]

    def test_the_form_counts_each_status_that_a_claim_has(self, site: SiteData) -> None:
        chips = dict(findall(r'value="(\w*)"[^>]*>[^<]*<small>(\d+)<', exports.index(site)))
        assert chips[""] == str(len(site.tree.claims))
        for status, count in chips.items():
            if status:
                assert exports.index(site).count(f'data-status="{status}"') <= int(count)
        assert {"supported", "flips", "contradicted", "cited", "unmeasured"} <= set(chips)


def test_claims_json_equals_figures_recomputed_from_samples(site: SiteData) -> None:
    found = {entry["id"]: entry for entry in json.loads(exports.claims_json(site))["claims"]}
    assert set(found) == set(site.tree.claims)
    for claim in site.tree.measured():
        for name, standing in found[claim.id]["standings"].items():
            session = site.board.of(claim, name).session
            if session is None:
                assert (standing["status"], standing["points"]) == ("unmeasured", [])
                continue
            assert standing["evidence"] == session.path.removeprefix("checks/")
            again = judge(claim, session.evidence, site.tree.classes[name])
            assert [(p["ratio"], p["low"], p["high"], p["n"], p["verdict"]) for p in standing["points"]] == [
                (p.ratio, p.low, p.high, p.n, p.verdict) for p in again.points
            ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.14159, "3.14"), (31.4159, "31.4"), (314.159, "314"), (0.31416, "0.314"), (float("nan"), "unknown")],
)
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert phrasing.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "+10 %"), (-0.1143, "−11 %"), (0.0123, "+1.2 %"), (-0.0001, "0.0 %")]
)
def test_changes_have_a_real_minus_sign(value: float, text: str) -> None:
    assert phrasing.change(value).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(2.91, "2.91 times less"), (0.5, "2.00 times more"), (1.1, "9.1 % less"), (1.0, "the same")]
)
def test_amounts_name_the_direction(site: SiteData, ratio: float, text: str) -> None:
    claim = next(claim for claim in site.tree.measured() if claim.id == "training.memory")
    assert phrasing.phrase(claim, [ratio]).replace("\u00a0", " ") == f"saved-activation memory {text}"


def test_figures_have_a_no_break_space_before_the_unit(site: SiteData) -> None:
    page = claim_page.render(site.tree.claims["training.memory"], site)
    assert "3.20\u00a0GiB\u00a0→\u00a01.10\u00a0GiB" in page
