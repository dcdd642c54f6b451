"""``headroom verdict``."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from headroom.cli import FAILED, OK, USAGE
from headroom.verdicts import read
from headroom.verdicts.summary import rows


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the verdict on each claim."""
    tree, board = read(root)
    unknown = [name for name in options.claims if name not in tree.claims]
    if unknown:
        print(f"headroom: there is no claim `{unknown[0]}`; `headroom verdict` lists all", file=sys.stderr)
        return USAGE
    for problem in tree.problems:
        print(problem, file=sys.stderr)
    found = [row for row in rows(tree, board) if not options.claims or row.claim in options.claims]
    if options.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    else:
        for row in found:
            print(row)
    return FAILED if tree.problems else OK
