"""The figures of the run that counts which small faults the tests notice: a sample of them, and the page."""

import json
import re
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import pytest

from mutation.operators import mutants
from mutation.sampling import drawn, interval

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "tests/mutation/result.json"
PAGE = ROOT / "docs/contribute/testing.md"
GOAL = 0.85


class TestSample:
    """What is drawn, and what it says of all."""

    def test_each_mutant_is_drawn_as_often_as_any_other(self) -> None:
        """None twice, as many as are asked for, others with another seed, and all where more are asked for."""
        found = mutants("m", "x = [1, 2, 3, 4, 5]", "m.py")
        each = Counter(mutant.before for seed in range(500) for mutant in drawn(found, 2, seed))
        assert set(each) == {"1", "2", "3", "4", "5"}
        assert all(150 < count < 250 for count in each.values())
        assert all(len(set(map(str, drawn(found, 3, seed)))) == 3 for seed in range(50))
        assert drawn(found, 9, 0) == found

    @pytest.mark.parametrize("total", [0, 1, 30, 85, 99, 100])
    def test_the_interval_holds_the_truth_in_nineteen_of_twenty_samples(self, total: int) -> None:
        """Whatever the truth, counted over every sample that there is."""
        of, tried = 100, 20
        chances = {k: comb(total, k) * comb(of - total, tried - k) / comb(of, tried) for k in range(tried + 1)}
        held = 0.0
        for killed, chance in chances.items():
            if chance:
                low, high = interval(killed, tried, of)
                held += chance * (low <= total <= high)
        assert held >= 0.95

    def test_the_interval_is_no_wider_than_it_must_be(self) -> None:
        """Near that of Wilson, and a point where all were tried."""
        low, high = interval(412, 450, 2858)
        assert (low / 2858, high / 2858) == pytest.approx((0.888, 0.938), abs=0.001)
        assert interval(7, 10, 10) == (7, 7)


def test_the_figures_of_the_page_are_those_of_the_last_run() -> None:
    """Part by part, with its day; of a sample how large it was, its seed, and between what the share of all lies."""
    record = json.loads(RESULT.read_text("utf-8"))
    row = re.compile(r"^\| `(\w+)` \| ([\d,]+) \| ([^|]+) \| ([\d,]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
    assert row.findall(PAGE.read_text("utf-8")) == [
        (part, f"{n['mutants']:,}", tried(n), f"{n['killed']:,}", share(n), n["date"]) for part, n in record.items()
    ]
    assert set(record) <= {"statistics", "verdicts", "records", "prose"}
    assert all(n["killed"] >= GOAL * n["tried"] for n in record.values())
    for n in record.values():
        if n["tried"] < n["mutants"]:
            assert tuple(n["between"]) == interval(n["killed"], n["tried"], n["mutants"])


def tried(count: dict[str, Any]) -> str:
    """How the page says which mutants were tried."""
    return f"{count['tried']:,}, seed {count['seed']}" if count["tried"] < count["mutants"] else "all"


def share(count: dict[str, Any]) -> str:
    """How the page says which share was killed: rounded down, the interval outwards."""
    killed = f"{100 * count['killed'] // count['tried']} %"
    if count["tried"] == count["mutants"]:
        return killed
    low, high = count["between"]
    return f"{killed} ({100 * low // count['mutants']} to {-(-100 * high // count['mutants'])})"
