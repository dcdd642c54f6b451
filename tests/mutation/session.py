"""A pytest session whose tests are run one by one, by whoever asks for them."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(eq=False)
class Tests:
    """The tests that were collected; a plugin of pytest that takes the place of its loop, and hears of failures."""

    use: Callable[["Tests"], None]
    items: dict[str, pytest.Item] = field(default_factory=dict)
    broken: str = ""
    """A file that could not be collected."""
    why: str = ""
    """The end of the last failure, or nothing where the last test passed."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hand the tests over, in place of running them."""
        self.items = {item.nodeid: item for item in session.items}
        self.use(self)
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what cannot be collected."""
        if report.failed:
            self.broken = self.broken or report.nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed, in its body or around it."""
        if report.failed:
            self.why = self.why or report.longreprtext.strip().splitlines()[-1]

    def passes(self, name: str) -> bool:
        """Run one test."""
        item = self.items[name]
        self.why = ""
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.why


def with_tests(root: Path, arguments: Sequence[str], use: Callable[[Tests], None]) -> None:
    """Collect the tests that pytest is asked for, and hand them over.

    What ``use`` raises goes through.
    """
    raised: list[Exception] = []

    def guarded(tests: Tests) -> None:
        try:
            use(tests)
        except Exception as error:  # noqa: BLE001 - pytest would print it and go on
            raised.append(error)

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others would take most of the time of a mutant
    with tempfile.TemporaryDirectory() as folder:
        options = [f"--rootdir={root}", f"--basetemp={folder}/t", "--capture=no", "-otmp_path_retention_policy=none"]
        options += ["-pno:cacheprovider", "-qq", "-Wignore::pytest.PytestAssertRewriteWarning"]
        with contextlib.chdir(root):
            pytest.main([*arguments, *options], plugins=[Tests(guarded)])
    if raised:
        raise raised[0]
