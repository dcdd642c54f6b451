"""``headroom new``: write a draft of a claim, benchmark, snippet, guide, method or published comparison."""

import argparse
import json
import sys
from pathlib import Path

from headroom import scaffolds
from headroom.cli import OK, USAGE
from headroom.io.todo_markers import MARK, gaps
from headroom.records import load

_CHOSEN = ("benchmark", "method", "guide", "metric", "snippet", "claim", "source", "rows")  # the options of all kinds


def run(root: Path, options: argparse.Namespace) -> int:
    """Write a draft into the tree, and print the next steps."""
    tree = load(root)
    chosen = {name: getattr(options, name) for name in _CHOSEN if hasattr(options, name)}
    try:
        draft = getattr(scaffolds, options.kind)(tree, options.id, **chosen)
        scaffolds.write(tree, draft)
    except scaffolds.ScaffoldError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    if options.json:
        print(json.dumps({"written": draft.path, "next": draft.following}, indent=1))
        return OK
    print(draft.path)
    steps = (f"replace each mark {MARK} ({len(list(gaps(draft.text)))} places)", *draft.following, "headroom check")
    print("\n".join(["next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]), file=sys.stderr)
    return OK
