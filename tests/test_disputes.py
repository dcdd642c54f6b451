"""When two sessions are in dispute, and what settles the dispute."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, a_session, edited, load_clean, standing, write_tree
from headroom.records import Evidence
from headroom.verdicts import judge_all
from headroom.verdicts.summary import rows

CLAIM = a_claim()
RATIOS = {"S": 1.5, "R": 0.7, "i": 1.02}
"""A session that supports, one that reverses, and one that is inconclusive."""


def history(verdicts: str, **environment: Any) -> list[Evidence]:
    """Return sessions with these verdicts on consecutive days, oldest first."""
    sessions = [
        a_session(CLAIM, RATIOS[word], seed=day, blocks=20, date=f"2026-10-{day:02}")
        for day, word in enumerate(verdicts, 1)
    ]
    return [edited(each, lambda data: data["environment"].update(environment)) for each in sessions]


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ("SR", "disputed"),
        ("RS", "disputed"),
        ("SSSSR", "disputed"),
        ("SRR", "disputed"),
        ("SRSR", "disputed"),
        ("SRRR", "contradicted"),
        ("RSSS", "supported"),
        ("SRRRS", "disputed"),
        ("SRSRSSS", "supported"),
        ("SRiR", "disputed"),
        ("SRRiR", "contradicted"),
        ("SRRRi", "inconclusive"),
    ],
)
def test_a_dispute_is_open_until_three_sessions_in_a_row_agree(tmp_path: Path, verdicts: str, status: str) -> None:
    """Inconclusive sessions do not count, and the next session that disagrees opens the dispute again."""
    found = standing(write_tree(tmp_path, [CLAIM], history(verdicts)), CLAIM)
    assert (found.status, found.dispute is not None) == (status, status == "disputed")


def test_a_dispute_names_the_newest_session_of_each_side(tmp_path: Path) -> None:
    found = standing(write_tree(tmp_path, [CLAIM], history("SSRSR")), CLAIM).dispute
    assert found is not None
    assert [session.head.date for session, _ in found.sides] == ["2026-10-04", "2026-10-05"]
    assert [verdict.verdict for _, verdict in found.sides] == ["supported", "contradicted"]


@pytest.mark.parametrize(("newer", "older"), [*product("SR", repeat=2)])
def test_another_minor_version_of_torch_on_the_product_settles_a_dispute(
    tmp_path: Path, newer: str, older: str
) -> None:
    past = history(f"SR{older}", versions={"torch": "2.12.1"})
    new = a_session(CLAIM, RATIOS[newer], date="2026-11-01")
    found = standing(write_tree(tmp_path, [CLAIM], [*past, new]), CLAIM)
    assert found.status == {"S": "supported", "R": "contradicted"}[newer]


def test_a_session_on_another_product_does_not_settle_a_dispute(tmp_path: Path) -> None:
    other = edited(
        a_session(CLAIM, date="2026-11-01"), lambda data: data["environment"].update({"product": "Another Xeon"})
    )
    assert standing(write_tree(tmp_path, [CLAIM], [*history("SR"), other]), CLAIM).status == "disputed"


def test_a_row_of_a_disputed_claim_names_both_sessions(tmp_path: Path) -> None:
    """The figures are those of the newest session."""
    tree = load_clean(write_tree(tmp_path, [CLAIM], history("SR")))
    (row,) = rows(tree, judge_all(tree))
    supports, reverses = (session.path for session in tree.sessions)
    assert row.status == "disputed"
    assert row.reason == f"{supports} supports it, {reverses} says the opposite"
    assert row.ratio is not None
    assert row.ratio < 1
