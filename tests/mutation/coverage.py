"""What each test runs, and how long it takes: a mutant is tried with the tests that are likeliest to see it first."""

import builtins
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, zip_longest

from mutation.probes import PROBE
from mutation.replacing import caches
from mutation.session import Tests

_LONGEST = 1.0  # seconds of a test; one that takes longer is left out


class HarnessError(Exception):
    """The run itself is at fault, so that it says nothing of any mutant."""


@dataclass(frozen=True)
class Coverage:
    """What each test runs, and how many seconds of CPU time it takes."""

    seconds: Mapping[str, float]
    lines: Mapping[str, Sequence[str]]
    """By test, `file:function:line` of what it runs."""
    at_most: float
    """Seconds of all tests that one mutant is tried with; what is left out could only kill more."""

    def every(self) -> list[str]:
        """Every test that a mutant may be tried with: first those that run few files, which look at these closely."""
        quick = (test for test, seconds in self.seconds.items() if seconds < _LONGEST)
        return sorted(quick, key=lambda test: (len(self._files[test]), self.seconds[test]))

    def order(self, path: str, function: str) -> list[str]:
        """The tests that run a part of a function; where there is none, all, for thrice as long.

        Line by line in turn, from the line that the fewest tests run to that of the most; among tests that run as many
        files, a case of each before another case of any.
        """
        if not function:
            return self._bounded(self._near(path), 3 * self.at_most)
        of_line: dict[str, list[str]] = defaultdict(list)
        for test in self.every():
            for line in self.lines[test]:
                if line.startswith(f"{path}:{function}:"):
                    of_line[line].append(test)
        turns = zip_longest(*map(self._in_turn, sorted(of_line.values(), key=len)))
        return self._bounded([*dict.fromkeys(test for turn in turns for test in turn if test)], self.at_most)

    @cached_property
    def _files(self) -> dict[str, set[str]]:
        return {test: {line.partition(":")[0] for line in lines} for test, lines in self.lines.items()}

    def _near(self, path: str) -> list[str]:
        """Every test, first those of a file that has one that runs the path, then its folder, and few files beside."""
        nearest: dict[str, tuple[int, int]] = {}
        for test in self.every():
            near = (self._distance(test, path), len(self._files[test]))
            nearest[_file(test)] = min(near, nearest.get(_file(test), near))
        return sorted(self.every(), key=lambda test: nearest[_file(test)])

    def _distance(self, test: str, path: str) -> int:
        if path in self._files[test]:
            return 0
        folder = path.rpartition("/")[0]
        return 1 if any(file.rpartition("/")[0] == folder for file in self._files[test]) else 2

    def _in_turn(self, tests: list[str]) -> list[str]:
        cases: dict[tuple[int, str], int] = defaultdict(int)
        turn: dict[str, tuple[int, int]] = {}
        for test in tests:
            files = len(self._files[test])
            cases[files, test.partition("[")[0]] += 1
            turn[test] = (files, cases[files, test.partition("[")[0]])
        return sorted(tests, key=turn.__getitem__)

    def _bounded(self, tests: list[str], at_most: float) -> list[str]:
        ends = accumulate(self.seconds[test] for test in tests)
        return [test for test, end in zip(tests, ends, strict=True) if end < at_most]

    def total(self, tests: Iterable[str]) -> float:
        """How many seconds some tests take."""
        return sum(self.seconds[test] for test in tests)


def _file(test: str) -> str:
    return test.partition("::")[0]


def measured(tests: Tests, files: set[str], at_most: float) -> Coverage:
    """Run every test, and note what it runs of these files, whose code has probes (``probes.py``).

    A test that starts a program sees no mutant, and is left out.

    Raises:
        HarnessError: a test fails without any change.
    """
    if tests.broken:
        raise HarnessError(f"{tests.broken} cannot be collected")
    started_others: set[str] = set()
    sys.addaudithook(lambda event, _: started_others.add(name) if event == "subprocess.Popen" else None)
    name = ""
    seconds: dict[str, float] = {}
    lines: dict[str, list[str]] = {}
    kept = caches(files)
    ran: set[str] = set()
    setattr(builtins, PROBE, ran.add)
    for name in tests.items:
        for cache in kept:
            cache.cache_clear()  # a remembered result would hide the call
        ran.clear()
        passed, lines[name] = tests.passes(name), sorted(ran)
        started = time.process_time()  # of a second run: what the first one remembers is there for all that follow
        if not (passed and tests.passes(name)):
            raise HarnessError(f"{name} fails without any change: {tests.why}")
        seconds[name] = time.process_time() - started
    for other in started_others:
        del seconds[other], lines[other]
    return Coverage(seconds, lines, at_most)
