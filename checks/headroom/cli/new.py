"""``headroom new``."""

import argparse
import json
import sys
from pathlib import Path

from headroom import scaffolds
from headroom.cli import OK, USAGE
from headroom.io.todo_markers import MARK, gaps
from headroom.records import load

_CHOSEN = ("benchmark", "method", "guide", "metric", "snippet")  # options of one kind or another


def run(root: Path, options: argparse.Namespace) -> int:
    """Write a first draft into its place, and say what comes next."""
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
    steps = (f"write what is marked {MARK} ({len(list(gaps(draft.text)))} places)", *draft.following, "headroom check")
    print("\n".join(["next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]), file=sys.stderr)
    return OK
