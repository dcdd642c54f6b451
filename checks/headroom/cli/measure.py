"""``headroom measure``."""

import argparse
import json
from pathlib import Path

from headroom.cli import OK, terminal
from headroom.records import load


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure, and print the path of the evidence."""
    session = terminal.measured(load(root), options.names, options.out or root, options.device)
    if isinstance(session, int):
        return session
    print(json.dumps({"evidence": str(session.kept)}) if options.json else session.kept)
    return OK
