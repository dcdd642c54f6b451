"""Runs tests against mutants, each in a process of its own that was forked from one that has only imported.

A change inside a function replaces its code, whoever refers to it, and the tests that run a part of it are tried. A
change outside of one is what importing runs: there the package is imported anew, and every test may run. The first
test that fails kills the mutant, and so does one that uses up its time. Before that, every test must pass with the code
as it is, put in place in either way and in that order: a test that fails for what another has left behind would kill
everything.

mutmut, the usual tool, changes neither decorated functions nor anything outside of functions: it would have skipped
every validator, constraint, table and pattern of the records, which is most of what they are.
"""

import builtins
import importlib
import importlib.machinery
import importlib.util
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from mutation.children import ENDLESS, forked
from mutation.coverage import Coverage, HarnessError, measured
from mutation.operators import Mutant
from mutation.probes import PROBE, probed
from mutation.replacing import functions, swap
from mutation.session import Tests, with_tests

_SLOWER = 4  # how many times as long as without a change the tests of a mutant may take
_COLLECTING = 10  # seconds, more than importing the package and collecting all tests take
_SURVIVED = "survived"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    killed: bool
    by: str
    """The test that killed it and what it said, or how it ended otherwise."""


class _Changed(importlib.machinery.SourceFileLoader):
    """Finds and imports one module, with other code than its file's."""

    def __init__(self, module: str, path: Path, code: CodeType) -> None:
        super().__init__(module, str(path))
        self.code = code

    def find_spec(self, fullname: str, *_rest: Any) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        inside = [str(Path(self.path).parent)] if self.path.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=inside
        )

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - it knows one
        return self.code


class Runner:
    """Tries mutants of some modules of the package with some tests, given as arguments of pytest.

    It must be used in a process that has not imported the package, and leaves it imported.
    """

    def __init__(self, root: Path, modules: Mapping[str, Path], tests: Sequence[str], at_most: float = 5.0) -> None:
        self.root, self.modules, self.tests, self.at_most = root, modules, tests, at_most
        self.coverage = self._covered()

    def run(self, mutants: Sequence[Mutant], report: Callable[[Outcome], None]) -> None:
        """Say what becomes of each mutant: first of those outside of functions, then of the others.

        Raises:
            HarnessError: a test fails without any change.
        """
        module, path = next(iter(self.modules.items()))
        _refuse(self._imported(module, _compiled(path), self.coverage.every()))
        for mutant in mutants:
            if not mutant.function:
                report(Outcome(mutant, *self._imported(mutant.module, mutant.code(), self._order(mutant))))
        self._import()
        with_tests(self.root, self.tests, lambda tests: self._run_inside(mutants, report, tests))

    def _run_inside(self, mutants: Sequence[Mutant], report: Callable[[Outcome], None], tests: Tests) -> None:
        known = functions(self.modules.values())
        same = [(_compiled(path), None) for path in self.modules.values()]
        _refuse(self._ended(lambda: self._swapped(known, same, tests, self.coverage.every()), self.coverage.every()))
        for mutant in mutants:
            if mutant.function:
                order, change = self._order(mutant), [(mutant.code(), mutant.function)]
                work = lambda order=order, change=change: self._swapped(known, change, tests, order)  # noqa: E731
                report(Outcome(mutant, *self._ended(work, order)))

    def _order(self, mutant: Mutant) -> list[str]:
        return self.coverage.order(str(self.modules[mutant.module]), mutant.function)

    def _imported(self, module: str, code: CodeType, order: list[str]) -> tuple[bool, str]:
        """Whether a test fails where the package is imported with this code, and which."""

        def work() -> str:
            sys.meta_path.insert(0, _Changed(module, self.modules[module], code))
            try:
                self._import()
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody could use the package
                return f"importing it: {error!r}"
            return next(filter(lambda said: said != _SURVIVED, self._file_by_file(order)), _SURVIVED)

        return self._ended(work, order, _COLLECTING)

    def _file_by_file(self, order: list[str]) -> Iterator[str]:
        """What the tests of each file say: collecting them takes longer than most tests."""
        options = [argument for argument in self.tests if argument.startswith("-")]
        for file in dict.fromkeys(test.partition("::")[0] for test in order):
            said: list[str] = []
            of_file = [test for test in order if test.startswith(f"{file}::")]
            with_tests(
                self.root,
                [*options, file],
                lambda tests, said=said, of_file=of_file: said.append(_first(tests, of_file)),  # type: ignore[misc]
            )
            yield from said

    def _swapped(
        self, known: Any, changes: Sequence[tuple[CodeType, str | None]], tests: Tests, order: list[str]
    ) -> str:
        if not sum(swap(known, code, function) for code, function in changes):
            raise HarnessError("there is no such function")
        return _first(tests, order)

    def _ended(self, work: Callable[[], str], order: list[str], beside: float = 2) -> tuple[bool, str]:
        if not order:
            return False, "no test calls it"
        code, text = forked(work, seconds=beside + _SLOWER * self.coverage.total(order))
        if code in ENDLESS:
            return True, "it took too long"
        if code < 0:
            return True, f"it crashed: {signal.Signals(-code).name}"
        if not text:
            raise HarnessError("a child said nothing")
        return text != _SURVIVED, text

    def _import(self) -> None:
        """Import the package before pytest looks at it: its rewriting of asserts would load the original."""
        for module in self.modules:
            importlib.import_module(module)

    def _covered(self) -> Coverage:
        files = {str(path) for path in self.modules.values()}

        def work() -> str:
            found: list[Coverage] = []
            setattr(builtins, PROBE, lambda _: None)
            for module, path in self.modules.items():
                sys.meta_path.insert(0, _Changed(module, path, probed(path)))
            self._import()
            try:
                with_tests(self.root, self.tests, lambda tests: found.append(measured(tests, files, self.at_most)))
            except HarnessError as error:
                return json.dumps(str(error))
            return json.dumps(asdict(found[0]))

        code, text = forked(work, seconds=600)
        result = json.loads(text or json.dumps(f"no test could be run (exit code {code})"))
        if isinstance(result, str):
            raise HarnessError(result)
        return Coverage(**result)


def _first(tests: Tests, order: list[str]) -> str:
    """The first test that fails, and what it says; a case that is made from what was changed may be gone."""
    if tests.broken:
        return f"{tests.broken} cannot be collected"
    failing = next((name for name in order if name in tests.items and not tests.passes(name)), None)
    return f"{failing}: {tests.why}" if failing else _SURVIVED


def _compiled(path: Path) -> CodeType:
    return compile(path.read_text("utf-8"), str(path), "exec")


def _refuse(control: tuple[bool, str]) -> None:
    failed, why = control
    if failed:
        raise HarnessError(f"without any change, {why}")
