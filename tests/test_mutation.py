"""The run that counts which small faults the tests notice: what it changes, and that it counts rightly."""

import builtins
import json
import subprocess
import sys
from math import comb
from pathlib import Path
from typing import Any

import pytest

from mutation.operators import mutants
from mutation.probes import PROBE, probed

ROOT = Path(__file__).parents[1]
RUN = ROOT / "tests/mutation/run.py"
GOAL = 0.85
CODE = """from functools import cache

LIMIT = 3


@cache
def small(number):
    return number < LIMIT


def untested(number):
    return number + 1


def counted(number):
    while number > 0:
        number -= 1
    return number


def unseen(number):
    return -number
"""
TESTS = """import thing
from thing import counted, small, untested


def test_small():
    assert small(2)
    assert not small(3)


def test_counted():
    assert counted(3) == 0


def test_untested():
    untested(1)
"""
PROBED = """class A:
    number = 2

    def f(self, value):
        'Twice.'
        def times():
            return value * self.number

        if value:
            return times()
        return 0
"""
# Collected first, and slower, is a test that passes; the quick one spoils it for whoever comes after.
LEAKING = f"""{TESTS}

def test_slow():
    assert thing.LIMIT + sum(range(10**6)) % 1 == 3


def test_quick():
    thing.LIMIT = 2
"""
TRY = """
import json, sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
from mutation.operators import mutants
from mutation.running import Runner
root = Path(sys.argv[2])
path = root / "thing.py"
found = mutants("thing", path.read_text(), str(path))
outcomes = []
Runner(root, {"thing": path}, ["test_thing.py"]).run(found, outcomes.append)
print(json.dumps({str(outcome.mutant): [outcome.killed, outcome.by] for outcome in outcomes}))
"""


def outcomes_of(root: Path, code: str = CODE, tests: str = TESTS) -> subprocess.CompletedProcess[str]:
    """Every mutant of a module, tried with some tests in a process of its own."""
    (root / "thing.py").write_text(code)
    (root / "test_thing.py").write_text(tests)
    (root / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-c", TRY, str(ROOT / "tests"), str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)


class TestOperators:
    """What is changed."""

    @pytest.mark.parametrize(
        ("source", "changes"),
        [
            ("x = a < b", {"a < b -> a <= b", "a < b -> a >= b"}),
            ("x = a == b", {"a == b -> a != b"}),
            ("x = a + b", {"a + b -> a - b"}),
            ("x = a and b", {"a and b -> a or b"}),
            ("x = not a", {"not a -> a"}),
            ("x = -a", {"-a -> a"}),
            ("x = 1", {"1 -> 2"}),
            ("x = 0.5", {"0.5 -> 0.25"}),
            ("x = 0.0", {"0.0 -> 1.0"}),
            ("x = True", {"True -> False"}),
            ("x = 'word'", {"'word' -> ''"}),
            ("x = ''", {"'' -> 'x'"}),
            ("x = a if b else c", {"b -> True", "b -> False"}),
            ("x = [a for a in b if c]", {"c -> True"}),
            ("while a: b = c", {"a -> False"}),
            ("f(a, b)", {"f(a, b) -> pass", "f(a, b) -> f(b, a)"}),
            ("x = f(a=b)", {"f(a=b) -> f()"}),
            ("x = any(a)", {"any(a) -> all(a)"}),
            ("x = a.startswith(b)", {"a.startswith(b) -> a.endswith(b)"}),
            ("x += a", {"x += a -> pass"}),
            ("x[a] = b", {"x[a] = b -> pass"}),
            ("for a in b: continue", {"continue -> pass"}),
            ("raise E", {"raise E -> pass"}),
            ("def f(): return a", {"return a -> return None"}),
        ],
    )
    def test_change_what_a_test_should_notice(self, source: str, changes: set[str]) -> None:
        """Comparisons, arithmetic, conditions, constants, results, statements and arguments."""
        found = mutants("m", source, "m.py")
        assert {f"{mutant.before} -> {mutant.after}" for mutant in found} == changes
        for mutant in found:
            mutant.code()

    @pytest.mark.parametrize(
        "source",
        [
            "x: Literal['a'] = a",
            "X: TypeAlias = a | b",
            "X = Literal['a', 'b']",
            "__all__ = ['a']",
            '"""What it is."""',
            "@cache(a=True)\nclass A: b: int",
            "x = f'there is no {a + 1}'",
            "x = SomeError('no')",
            "def f() -> int | None: '''None.'''",
        ],
    )
    def test_leave_types_and_words_for_people_alone(self, source: str) -> None:
        """What no run can tell, and what no test should repeat."""
        assert mutants("m", source, "m.py") == []

    def test_name_module_function_and_change(self) -> None:
        """A name stays when lines move, and two changes that read alike are told apart."""
        names = [str(mutant) for mutant in mutants("m", "class A:\n    def f(self): return [1, 1]\n", "m.py")]
        assert names == ["m:A.f: return [1, 1] -> return None", "m:A.f: 1 -> 2", "m:A.f: 1 -> 2 #2"]

    def test_leave_the_module_as_it_was(self) -> None:
        """Each is one change, whatever was compiled before."""
        found = mutants("m", "x = 1\ny = 2\n", "m.py")
        values = []
        for mutant in found:
            names: dict[str, int] = {}
            exec(mutant.code(), names)  # noqa: S102 - two assignments
            values.append((names["x"], names["y"]))
        assert values == [(2, 2), (1, 3)]


def test_probes_name_each_statement_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the outermost function and its line; nothing else changes, and a docstring stays one."""
    path = tmp_path / "thing.py"
    path.write_text(PROBED)
    ran: list[str] = []
    monkeypatch.setattr(builtins, PROBE, ran.append, raising=False)
    names: dict[str, Any] = {"__name__": "thing"}
    exec(probed(path), names)  # noqa: S102 - the text above
    assert ran == []
    assert names["A"]().f(3) == 6
    assert [place.removeprefix(f"{path}:") for place in ran] == ["A.f:6", "A.f:9", "A.f:10", "A.f:7"]
    assert names["A"].f.__doc__ == "Twice."


class TestRun:
    """What is counted."""

    def test_kills_what_a_test_notices_and_nothing_else(self, tmp_path: Path) -> None:
        """In plain functions and decorated ones, in constants, and where the change never ends."""
        result = outcomes_of(tmp_path)
        assert result.returncode == 0, result.stderr
        outcomes = json.loads(result.stdout.splitlines()[-1])
        assert {name: killed for name, (killed, _) in outcomes.items()} == {
            "thing:: 3 -> 4": True,
            "thing:small: return number < LIMIT -> return None": True,
            "thing:small: number < LIMIT -> number <= LIMIT": True,
            "thing:small: number < LIMIT -> number >= LIMIT": True,
            "thing:untested: return number + 1 -> return None": False,
            "thing:untested: number + 1 -> number - 1": False,
            "thing:untested: 1 -> 2": False,
            "thing:counted: number > 0 -> number >= 0": True,
            "thing:counted: number > 0 -> number <= 0": True,
            "thing:counted: number > 0 -> False": True,
            "thing:counted: 0 -> 1": True,
            "thing:counted: number -= 1 -> pass": True,
            "thing:counted: 1 -> 2": True,
            "thing:counted: return number -> return None": True,
            "thing:unseen: return -number -> return None": False,
            "thing:unseen: -number -> number": False,
        }
        assert outcomes["thing:unseen: -number -> number"][1] == "no test calls it"
        assert outcomes["thing:counted: number -= 1 -> pass"][1] == "it took too long"
        assert outcomes["thing:: 3 -> 4"][1].startswith("test_thing.py::test_small")

    def test_passes_over_a_case_that_the_change_takes_away(self, tmp_path: Path) -> None:
        """A test that is collected for each word of a table tells nothing by not being collected."""
        code = "WORDS = {'a': 1}\n\n\ndef known(word):\n    return word in WORDS\n"
        tests = """import pytest
import thing


@pytest.mark.parametrize("word", thing.WORDS)
def test_word(word):
    assert thing.known(word)
"""
        result = outcomes_of(tmp_path, code, tests)
        assert result.returncode == 0, result.stderr
        outcomes = json.loads(result.stdout.splitlines()[-1])
        assert outcomes["thing:: 'a' -> ''"] == [False, "survived"]

    @pytest.mark.parametrize(
        ("tests", "why"),
        [
            (f"{TESTS}\ndef test_red():\n    assert small(9)\n", "test_red fails without any change"),
            (LEAKING, "without any change, test_thing.py"),
            ("import nothing_of_this_name\n", "cannot be collected"),
        ],
    )
    def test_refuses_tests_that_fail_for_another_reason(self, tmp_path: Path, tests: str, why: str) -> None:
        """As they are, or after one that leaves something behind: they would kill everything."""
        result = outcomes_of(tmp_path, tests=tests)
        assert result.returncode != 0
        assert why in result.stderr.splitlines()[-1]


def fewest(size: int, share: float, error: float = 0.001) -> int:
    """The fewest of a sample that are to be expected of a share, but for an error."""
    chances = (comb(size, k) * share**k * (1 - share) ** (size - k) for k in range(size + 1))
    total = 0.0
    for k, chance in enumerate(chances):
        total += chance
        if total > error:
            return k
    return size


def test_a_sample_of_mutants_is_killed() -> None:
    """Six of each part, drawn by a seed: as many as a share of 85 % lets expect, so that the run itself cannot rot."""
    command = [sys.executable, str(RUN), "--sample", "6", "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    counts = json.loads(result.stdout.splitlines()[-1])
    assert {part: count["tried"] for part, count in counts.items()} == dict.fromkeys(counts, 6)
    assert len(counts) == 4
    assert sum(count["killed"] for count in counts.values()) >= fewest(24, GOAL), result.stdout
