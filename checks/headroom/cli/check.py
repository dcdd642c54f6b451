"""``headroom check``: report every problem of the tree, and optionally rewrite figures."""

import argparse
import gc
import json
import sys
from dataclasses import asdict
from pathlib import Path

from headroom import rules
from headroom.cli import FAILED, OK, USAGE


def run(root: Path, options: argparse.Namespace) -> int:
    """Report every problem; with ``--fix``, rewrite the figures first."""
    gc.disable()  # garbage collection would scan all records repeatedly, and find nothing to free
    try:
        return _check(root, options)
    finally:
        gc.enable()


_held: list[rules.Context] = []
"""Keeps the last context alive until the process ends: freeing it would take a tenth of the check's time."""


def _check(root: Path, options: argparse.Namespace) -> int:
    if options.only and options.only not in (known := (*rules.READING, *rules.RULES)):
        print(f"headroom: there is no rule `{options.only}`; rules are: {', '.join(known)}", file=sys.stderr)
        return USAGE
    context = rules.Context.of(root)
    skipped = False
    if options.fix:
        for done in rules.apply(root, context):
            print(done, file=sys.stderr)
            skipped |= isinstance(done, rules.Skipped)
        context = rules.Context.of(root)
    _held[:] = [context]
    problems = rules.check(context, options.only)
    if options.json:
        print(json.dumps([asdict(problem) for problem in problems], indent=1))
    else:
        for problem in problems:
            print(problem)
        tree = context.tree
        counts = f"{len(tree.snippets)} snippets, {len(tree.claims)} claims, {len(tree.sessions)} sessions"
        tally = rules.tally(context)
        kinds = ", ".join(f"{count} {kind}" for kind, count in tally.most_common())
        read = f"{len(context.pages)} pages, {tally.total()} comparisons{f' ({kinds})' if kinds else ''}"
        found = f"{len(problems) or 'no'} problem{'s' * (len(problems) != 1)}"
        print(f"{counts}, {read}: {found}", file=sys.stderr)
    return FAILED if problems or skipped else OK
