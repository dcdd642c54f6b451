"""``headroom verdict``: print the verdict on each claim per hardware class, or the benchmarks to measure again."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from headroom.cli import FAILED, OK, USAGE
from headroom.records import Tree, load
from headroom.verdicts import Board, judge_all
from headroom.verdicts.remeasure import stale_benchmarks
from headroom.verdicts.summary import rows

HERE = "here"
"""The value of ``--on`` for the hardware class of this machine."""


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the verdict on each claim, or with ``--stale`` the benchmarks to measure again."""
    tree = load(root)
    board = judge_all(tree)
    unknown = [name for name in options.claims if name not in tree.claims]
    if unknown:
        print(f"headroom: there is no claim `{unknown[0]}`; `headroom verdict` lists all claims", file=sys.stderr)
        return USAGE
    try:
        where = _class(tree, options.on)
    except ValueError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    for problem in tree.problems:
        print(problem, file=sys.stderr)
    (_stale if options.stale else _verdicts)(tree, board, where, options)
    return FAILED if tree.problems else OK


def _verdicts(tree: Tree, board: Board, where: str | None, options: argparse.Namespace) -> None:
    found = [row for row in rows(tree, board) if not options.claims or row.claim in options.claims]
    found = [row for row in found if where in (None, row.hardware_class)]
    if options.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    else:
        for row in found:
            print(row)


def _stale(tree: Tree, board: Board, where: str | None, options: argparse.Namespace) -> None:
    """Print the benchmarks to measure again to standard output, one per line, and the reasons to standard error."""
    found = [
        each
        for each in stale_benchmarks(tree, board, where)
        if not options.claims or {*options.claims} & {*each.claims}
    ]
    if options.json:
        print(json.dumps([asdict(each) for each in found], indent=1))
        return
    for each in found:
        print(f"headroom: {each}", file=sys.stderr)
    for name in dict.fromkeys(each.benchmark for each in found):
        print(name)
    if not found:
        print("headroom: nothing is stale", file=sys.stderr)


def _class(tree: Tree, name: str | None) -> str | None:
    """Return the hardware class of this name, or of this machine for ``here``.

    Raises:
        ValueError: there is no class of this name, or this machine matches none.
    """
    if name == HERE:
        from headroom import environment  # noqa: PLC0415 - needed only for `here`
        from headroom.execution import session_plan  # noqa: PLC0415 - as above
        from headroom.execution.isolation import QUIET  # noqa: PLC0415 - as above

        return session_plan.hardware_class(tree, environment.observe(threads=int(QUIET["OMP_NUM_THREADS"])))
    if name is not None and name not in tree.classes:
        raise ValueError(f"there is no hardware class `{name}`; use `{HERE}` or one of: {', '.join(tree.classes)}")
    return name
