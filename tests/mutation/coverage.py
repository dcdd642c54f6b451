"""What each test calls, and how long it takes: a mutant is tried with the tests that can notice it, quickest first."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from mutation.replacing import caches
from mutation.session import Tests

_LONGEST = 1.0  # seconds of a test; one that takes longer is left out


class HarnessError(Exception):
    """The run itself is at fault, so that it says nothing of any mutant."""


@dataclass(frozen=True)
class Coverage:
    """What each test calls, and how many seconds of CPU time it takes."""

    seconds: Mapping[str, float]
    calls: Mapping[str, Sequence[str]]
    """By test, `file:function` of what it calls."""
    at_most: float
    """Seconds of all tests that one mutant is tried with; what is left out could only kill more."""

    def every(self) -> list[str]:
        """Every test that a mutant may be tried with, in the order in which it would be."""
        return sorted(
            (test for test, seconds in self.seconds.items() if seconds < _LONGEST), key=self.seconds.__getitem__
        )

    def order(self, path: str, function: str) -> list[str]:
        """The tests that call a function; where there is none, those that call any of the file, and then all others."""
        called = {test for test, calls in self.calls.items() if any(_is_of(call, path, function) for call in calls)}
        tests = [test for test in self.every() if test in called]
        return self._bounded(tests if function else [*tests, *(test for test in self.every() if test not in called)])

    def _bounded(self, tests: Iterable[str]) -> list[str]:
        tests = list(tests)
        ends = accumulate(self.seconds[test] for test in tests)
        return [test for test, end in zip(tests, ends, strict=True) if end < self.at_most]

    def total(self, tests: Iterable[str]) -> float:
        """How many seconds some tests take."""
        return sum(self.seconds[test] for test in tests)


def _is_of(call: str, path: str, function: str) -> bool:
    return call == f"{path}:{function}" if function else call.startswith(f"{path}:")


def measured(tests: Tests, files: set[str], at_most: float) -> Coverage:
    """Run every test, and note what it calls in these files. One that starts a program sees no mutant, and is left out.

    Raises:
        HarnessError: a test fails without any change.
    """
    if tests.broken:
        raise HarnessError(f"{tests.broken} cannot be collected")
    started_others: set[str] = set()
    sys.addaudithook(lambda event, _: started_others.add(name) if event == "subprocess.Popen" else None)
    name = ""
    seconds: dict[str, float] = {}
    calls: dict[str, list[str]] = {}
    kept = caches(files)
    for name in tests.items:
        for cache in kept:
            cache.cache_clear()  # a remembered result would hide the call
        called: set[str] = set()
        started = time.process_time()
        sys.settrace(_noting(called, files))
        passed = tests.passes(name)
        sys.settrace(None)
        seconds[name], calls[name] = time.process_time() - started, sorted(called)
        if not passed:
            raise HarnessError(f"{name} fails without any change: {tests.why}")
    for other in started_others:
        del seconds[other], calls[other]
    return Coverage(seconds, calls, at_most)


def _noting(called: set[str], files: set[str]) -> Any:
    def trace(frame: Any, _event: str, _argument: Any) -> None:
        if (code := frame.f_code).co_filename in files:
            called.add(f"{code.co_filename}:{code.co_qualname.partition('.<locals>')[0]}")

    return trace
