"""The shape of a claim along its sweep, and the rule `flips`."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from factories import a_claim, a_session, a_sweep, write_tree
from headroom import rules
from headroom.records import MeasuredClaim
from headroom.verdicts import PointVerdict
from headroom.verdicts.crossover import Shape, asserted, changes, shape

WORDS = {"s": "supported", "c": "contradicted", "i": "inconclusive"}


def points(letters: str) -> list[PointVerdict]:
    """Return points at 1, 2, 4 and so on with these verdicts, one letter each."""
    nothing: tuple[float, ...] = ()
    meant = True
    rest = ("", 1.0, 1.0, 1.0, 0, 0.99, nothing, nothing, nothing)
    return [
        PointVerdict({"batch_size": 2**i}, meant, WORDS[letter], *rest)  # type: ignore[arg-type]
        for i, letter in enumerate(letters)
    ]


def swept(letters: str) -> MeasuredClaim:
    """Return a claim with one point per letter."""
    return a_claim(scope=a_sweep(*(2**i for i in range(len(letters)))))


@pytest.mark.parametrize(
    ("letters", "found"),
    [
        ("sss", Shape("everywhere")),
        ("ccc", Shape("nowhere")),
        ("iii", Shape("unresolved")),
        ("cic", Shape("unresolved")),
        ("ccs", Shape("from", 4, (2, 4))),
        ("css", Shape("from", 2, (1, 2))),
        ("ssc", Shape("up_to", 2, (2, 4))),
        ("scc", Shape("up_to", 1, (1, 2))),
    ],
)
def test_a_sweep_with_one_change_holds_from_or_up_to_a_value(letters: str, found: Shape) -> None:
    """The crossover is the gap between two neighbouring points of the grid."""
    assert shape(swept(letters), points(letters)) == found


@pytest.mark.parametrize(
    ("letters", "found"),
    [
        ("cis", Shape("from", 4, (1, 4))),
        ("ciis", Shape("from", 8, (1, 8))),
        ("icis", Shape("from", 8, (2, 8))),
        ("cics", Shape("from", 8, (4, 8))),
        ("sic", Shape("up_to", 1, (1, 4))),
        ("ssici", Shape("up_to", 2, (2, 8))),
        ("is", Shape("from", 2, None)),
        ("ssi", Shape("up_to", 2, None)),
    ],
)
def test_inconclusive_points_widen_the_crossover(letters: str, found: Shape) -> None:
    """If all points on one side are inconclusive, there is no known crossover."""
    assert shape(swept(letters), points(letters)) == found


@pytest.mark.parametrize("letters", ["scs", "csc", "cscs", "sis", "csis", "icsc", "isi"])
def test_a_claim_supported_in_the_middle_or_twice_is_irregular(letters: str) -> None:
    assert shape(swept(letters), points(letters)) == Shape("irregular")


def test_every_change_is_between_conclusive_points() -> None:
    assert changes(swept("cisc"), points("cisc")) == [(1, 4), (4, 8)]


def test_a_claim_without_a_sweep_has_no_changes() -> None:
    claim = a_claim()
    assert shape(claim, points("s")) is None
    assert changes(claim, points("s")) == []
    assert asserted(claim) is None


@pytest.mark.parametrize(
    ("holds_for", "found"),
    [
        (None, None),
        ("batch_size >= 3", Shape("from", 4)),
        ("batch_size <= 3", Shape("up_to", 2)),
        ("batch_size >= 1", None),
    ],
)
def test_the_asserted_part_is_named_by_points_of_the_grid(holds_for: str | None, found: Shape | None) -> None:
    """The bound itself may lie between two points."""
    claim = a_claim(scope=a_sweep(1, 2, 4, holds_for=holds_for))
    assert asserted(claim) == found


def problems(root: Path, ratios: Mapping[str, Mapping[float, float]], **changes: object) -> list[str]:
    """Return the messages of the rule `flips` for a claim with these improvements on each class."""
    claim = a_claim(**changes)
    machines = {
        "cpu": {},
        "h200": {"device": "cuda", "product": "NVIDIA H200", "power_limit_w": 700.0, "instruction_sets": ()},
    }
    sessions = []
    for name, by_size in ratios.items():
        session = a_session(claim, lambda at, by_size=by_size: by_size[at["batch_size"]], hardware_class=name)  # type: ignore[misc]
        environment = session.environment.model_copy(update=machines[name])
        sessions.append(session.model_copy(update={"environment": environment}))
    write_tree(root, [claim], sessions)
    return [problem.message for problem in rules.check(rules.Context.of(root), "flips")]


FLIPS = [{"between": [1, 4], "why": "made up"}]


def test_two_classes_may_flip_at_different_points(tmp_path: Path) -> None:
    """The claim must list both points: a point without a flip and a missing point are problems."""
    ratios = {"cpu": {1: 0.7, 4: 1.5, 8: 1.6}, "h200": {1: 0.6, 4: 0.8, 8: 1.6}}
    other = {"between": [4, 8], "why": "made up"}
    scope = a_sweep(1, 4, 8, hardware=["cpu", "h200"])
    assert problems(tmp_path / "a", ratios, scope=scope, flips=[*FLIPS, other]) == []
    (found,) = problems(tmp_path / "b", ratios, scope=scope, flips=FLIPS)
    assert "on `h200` it changes between [(4, 8)]" in found
    assert len(problems(tmp_path / "c", {"cpu": ratios["cpu"]}, scope=scope, flips=[*FLIPS, other])) == 1


def test_a_contradiction_within_the_asserted_part_is_a_problem(tmp_path: Path) -> None:
    scope = a_sweep(1, 4, 8, holds_for="batch_size >= 1")
    (found,) = problems(tmp_path, {"cpu": {1: 0.7, 4: 1.5, 8: 1.6}}, scope=scope, flips=FLIPS)
    assert found == "the claim asserts `batch_size >= 1`, but on `cpu` it is contradicted at 1"


@pytest.mark.parametrize(("below", "changes"), [(0.7, {"flips": FLIPS}), (1.02, {})])
def test_points_outside_the_asserted_part_may_be_unsupported(
    tmp_path: Path, below: float, changes: dict[str, object]
) -> None:
    scope = a_sweep(1, 4, 8, holds_for="batch_size >= 4")
    assert problems(tmp_path, {"cpu": {1: below, 4: 1.5, 8: 1.6}}, scope=scope, **changes) == []


def test_an_empty_list_of_flips_is_needed_where_there_are_none(tmp_path: Path) -> None:
    ratios = {"cpu": {1: 1.4, 4: 1.5, 8: 1.6}}
    scope = a_sweep(1, 4, 8, holds_for="batch_size >= 4")
    (found,) = problems(tmp_path, ratios, scope=scope)
    assert "every other point is supported as well" in found
    path = next((tmp_path / "checks/registry").rglob("*.yml"))
    path.write_text(path.read_text("utf-8") + "flips: []\n", "utf-8")
    assert rules.check(rules.Context.of(tmp_path), "flips") == []
