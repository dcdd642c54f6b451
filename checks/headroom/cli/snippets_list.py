"""``headroom snippets list``: list the snippets with the dates of their last runs."""

import argparse
import json
from pathlib import Path
from typing import Any

from headroom.cli import FAILED, OK
from headroom.records import load
from headroom.records.snippets import named


def run(root: Path, options: argparse.Namespace) -> int:
    """Print a line per snippet; fail if none matches."""
    tree = load(root)
    rows: list[dict[str, Any]] = []
    for snippet in named(tree.snippets, options.pattern):
        runs = ((where, run) for (name, where), run in tree.runs.items() if name == snippet.id)
        dates = {where: run.date for where, run in runs if run.sha256 == snippet.sha256}
        rows.append({"snippet": snippet.id, "title": snippet.title, "command": snippet.command, "ran": dates})
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            ran = ", ".join(f"{date} on {name}" for name, date in row["ran"].items()) or "this version has not run"
            print(f"{row['snippet']}: {row['title']} ({ran})")
    return OK if rows else FAILED
