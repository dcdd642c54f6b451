"""``headroom measure``: run a session for claims or a benchmark, and add its evidence file."""

import argparse
import json
from pathlib import Path

from headroom.cli import OK, USAGE, terminal
from headroom.records import load


def run(root: Path, options: argparse.Namespace) -> int:
    """Run a session, and print the path of its evidence; with ``--wanted``, run those that are missing."""
    if options.wanted == bool(options.names):
        terminal.say("name a benchmark or claims, or write --wanted --minutes N without names")
        return USAGE
    if options.wanted:
        from headroom.cli import measure_wanted  # noqa: PLC0415 - needed only here

        return measure_wanted.run(root, options)
    session = terminal.measured(load(root), options.names, options.out or root, options.device)
    if isinstance(session, int):
        return session
    print(json.dumps({"evidence": str(session.kept)}) if options.json else session.kept)
    return OK
