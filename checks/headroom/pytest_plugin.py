"""Pytest plugin: run each snippet as two tests, one with its technique and one without (ablation).

Every pytest run in the environment loads the plugin, so it imports nothing heavy before the first snippet.
"""

import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from headroom.execution.snippet_outcome import Failed
    from headroom.execution.snippet_runner import Runner
    from headroom.records.snippets import Snippet
    from headroom.records.tree import Tree

_TREE: pytest.StashKey["Tree"] = pytest.StashKey()
_RUNNER: pytest.StashKey["Runner"] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--changed``."""
    parser.getgroup("headroom").addoption(
        "--changed", action="store_true", help="run only the snippets without a CPU run record of their present version"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, Any, Any]:
    """Collect the scripts of the tree's snippets/ as snippets, in place of any other collector."""
    others = yield
    root = parent.config.rootpath
    is_snippet = file_path.suffix == ".py" and file_path.is_relative_to(root / "snippets")
    if not (is_snippet and (root / "checks" / "registry").is_dir()):
        return others
    return [SnippetFile.from_parent(parent, path=file_path)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what a run record shows: with ``--changed`` whole snippets, in CI the ablations that are not due."""
    if _TREE not in config.stash:
        return
    if config.getoption("changed"):
        from headroom.execution.snippet_runner import changed  # noqa: PLC0415

        wanted, names = changed(config.stash[_TREE]), ["run", "ablation"]
    elif os.environ.get("CI") and not config.getoption("deep", default=False):
        from headroom import environment  # noqa: PLC0415
        from headroom.execution.ablation_rotation import due  # noqa: PLC0415

        wanted, names = due(config.stash[_TREE], environment.observe("cpu").versions), ["ablation"]
    else:
        return
    snippets = [item for item in items if isinstance(item, SnippetItem) and item.name in names]
    shown = [item for item in snippets if item.snippet.id not in wanted]
    config.hook.pytest_deselected(items=shown)
    items[:] = [item for item in items if item not in shown]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the fork server."""
    if _RUNNER in config.stash:
        config.stash[_RUNNER].close()


class SnippetFile(pytest.File):
    """A script of snippets/."""

    def collect(self) -> Iterable["SnippetItem"]:
        """Yield the test of the script and, if it has an ablation, the test without its technique.

        Raises:
            CollectError: the script is not a valid snippet.
        """
        tree, name = _tree(self.config), self.path.relative_to(self.config.rootpath).as_posix()
        problems = [str(problem) for problem in tree.problems if problem.path == name]
        snippet = next((snippet for snippet in tree.snippets.values() if snippet.path == name), None)
        if problems or snippet is None:
            raise self.CollectError("\n".join(problems) or f"{name}: not a snippet; move it out of snippets/")
        yield SnippetItem.from_parent(self, name="run", snippet=snippet)
        if snippet.header.ablation:
            yield SnippetItem.from_parent(self, name="ablation", snippet=snippet)


class SnippetItem(pytest.Item):
    """One run of a snippet."""

    def __init__(self, *, snippet: "Snippet", **rest: Any) -> None:
        super().__init__(**rest)
        self.snippet = snippet

    def runtest(self) -> None:
        """Run the snippet.

        Raises:
            SnippetFailedError: the run or the ablation failed.
        """
        from headroom.execution.snippet_outcome import Failed, NotRun  # noqa: PLC0415

        runner = _runner(self.config)
        result = runner.run(self.snippet) if self.name == "run" else runner.run_ablated(self.snippet)
        if isinstance(result, NotRun):
            pytest.skip(f"not run: {self.snippet.path} {result.reason}")
        if isinstance(result, Failed):
            raise SnippetFailedError(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure's message; only unexpected errors get a traceback."""
        from headroom.execution.isolation import ForkServerError  # noqa: PLC0415
        from headroom.execution.local_hub import HubError  # noqa: PLC0415

        if isinstance(excinfo.value, SnippetFailedError | HubError | ForkServerError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the script as the location of the test."""
        return self.path, 0, self.name


class SnippetFailedError(Exception):
    """A snippet's run or ablation failed."""

    def __init__(self, failed: "Failed") -> None:
        printed = f"\n\nThe last lines of its standard error:\n{failed.stderr}" if failed.stderr else ""
        super().__init__(failed.message + printed)


def _tree(config: pytest.Config) -> "Tree":
    from headroom.records.tree import load  # noqa: PLC0415

    if _TREE not in config.stash:
        config.stash[_TREE] = load(config.rootpath)
    return config.stash[_TREE]


def _runner(config: pytest.Config) -> "Runner":
    from headroom import environment  # noqa: PLC0415
    from headroom.execution import preloads  # noqa: PLC0415
    from headroom.execution.snippet_runner import Runner  # noqa: PLC0415

    if _RUNNER not in config.stash:
        preload = preloads.modules(environment.observe().device)
        config.stash[_RUNNER] = Runner(_tree(config), config.rootpath / ".cache", preload=preload)
    return config.stash[_RUNNER]
