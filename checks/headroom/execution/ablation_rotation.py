"""Choose the ablations that CI runs: those of what has changed, and a quarter of the others, another one each week."""

import hashlib
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

from headroom.io import git_history, python_source, safe_read
from headroom.records.snippets import Snippet, SnippetRun
from headroom.records.tree import Tree

QUARTERS = 4
_RUNNER = ("fork_server", "isolation", "local_hub", "preload", "script_child", "snippet_outcome", "snippet_runner")
_PINNED = ("torch", "transformers", "accelerate", "peft")


def due(tree: Tree, versions: Mapping[str, str]) -> set[str]:
    """Return the ids of the snippets whose ablation must run.

    An ablation is due if no run record shows it for the present text, runner and versions, or if it is its week.

    Args:
        tree: the tree; the day of its last commit gives the week.
        versions: the installed versions of the libraries.
    """
    shown = {run.snippet for run in tree.runs.values() if _shows(run, tree, versions)}
    today = git_history.last_commit_day(tree.root)
    week = date.fromisoformat(today).isocalendar().week if today else 0
    return {name for name in tree.snippets if name not in shown or quarter(tree.snippets[name]) == week % QUARTERS}


def quarter(snippet: Snippet) -> int:
    """Return the snippet's place in the rotation, from 0 to 3; it depends on the id alone."""
    return hashlib.sha256(snippet.id.encode()).digest()[0] % QUARTERS


@cache
def runner_sha256() -> str:
    """Return a hash of the code that runs snippets, without its comments and docstrings."""
    here = Path(__file__).parent
    sources = [(here / f"{name}.py").read_text(encoding="utf-8") for name in _RUNNER]
    return safe_read.sha256("".join(map(python_source.syntax_sha256, sources)))


def _shows(run: SnippetRun, tree: Tree, versions: Mapping[str, str]) -> bool:
    """Return whether a record has a detected ablation of the present text with this runner and these versions."""
    snippet = tree.snippets.get(run.snippet)
    pinned = {name: versions.get(name) for name in _PINNED}
    if snippet and (own := tree.environments.get(snippet.header.environment or "")):
        pinned = {name: pin.version for name, pin in own.packages.items()}
    same = all(run.versions.get(name) == wanted for name, wanted in pinned.items())
    now = snippet is not None and run.sha256 == snippet.sha256 and run.runner == runner_sha256()
    return now and same and run.ablation is not None
