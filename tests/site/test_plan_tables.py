"""The tables of planned layouts and of the errors of step times on a page."""

from pathlib import Path

import pytest

from headroom.planner.errors import is_experts, run_pairs, threshold_of
from headroom.planner.recorded import constants_of, errors_of, runs_of, step_time_errors
from headroom.records.training_runs import RunTable
from headroom.site.plan_tables import with_tables
from headroom.site.site_data import SiteData

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> SiteData:
    return SiteData.load(ROOT)


def rows(name: str, site: SiteData) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in with_tables([f"[](plan:{name})"], site)]


def runs(tables: list[RunTable]) -> int:
    return sum(len(table.rows) for table in tables)


def test_every_published_run_has_its_signed_error(site: SiteData) -> None:
    tables = list(site.tree.published.training.values())
    found = rows("rows", site)[2:]
    assert len(found) == runs(tables)
    assert {(row[0], row[1]) for row in found} == {(table.id, each.id) for table in tables for each in table.rows}
    assert all(row[6].startswith(("−", "&#43;")) for row in found)


def test_summary_keeps_fitted_seen_and_blind_runs_apart(site: SiteData) -> None:
    counted = {row[0]: int(row[1]) for row in rows("summary", site)[2:]}
    for use in ("fitted", "seen", "blind"):
        every = [each for each in errors_of(site.tree) if each.run.row.use == use]
        assert counted[f"dense, {use}"] + counted.get(f"experts, {use}", 0) == len(every)


def test_abstentions_are_counted(site: SiteData) -> None:
    for _, asked, *orders in rows("pairs", site)[2:]:
        assert sum(map(int, orders)) == int(asked)
    assert int(rows("pairs", site)[2][4]) > 0


def test_answers_need_the_larger_difference_between_layouts_that_divide_the_model_differently(site: SiteData) -> None:
    assert site.tree.step_time is not None
    every = list(run_pairs(runs_of(site.tree), constants_of(site.tree.step_time)))
    same = threshold_of(every, experts=False)
    assert same is not None
    asked = [pair for pair in every if pair.differs and not is_experts(pair.first)]
    orders = [pair.order(same) for pair in asked]
    told, declined = (int(rows("pairs", site)[2][place]) for place in (2, 4))
    assert told < orders.count(True), "the table takes one threshold for all pairs"
    assert declined > orders.count(None)


@pytest.mark.parametrize("name", ["sources", "certainty", "constants", "8b-on-8"])
def test_other_tables_have_rows_without_empty_cells(name: str, site: SiteData) -> None:
    found = rows(name, site)
    assert len(found) > 3 - (name == "certainty")
    assert all(all(row) and len(row) == len(found[0]) for row in found[2:])


def test_picture_has_the_baseline_next_to_the_model(site: SiteData) -> None:
    names = list(step_time_errors(site.tree))
    assert names[::2] == [f"step-time model, {use} runs" for use in ("fitted", "seen", "blind")]
    assert names[1::2] == [f"same utilization, {use} runs" for use in ("fitted", "seen", "blind")]


def test_unknown_table_names_those_that_exist(site: SiteData) -> None:
    with pytest.raises(LookupError, match="there is no table `plan:nothing`; known are summary"):
        with_tables(["[](plan:nothing)"], site)
