"""``headroom notebooks run``: run notebooks, and compare their outputs with the stored ones."""

import argparse
import json
import sys
from pathlib import Path

from headroom.cli import FAILED, OK, USAGE
from headroom.execution import notebook_run
from headroom.io.atomic_write import UnwritableError
from headroom.io.safe_read import UnreadableError


def run(root: Path, options: argparse.Namespace) -> int:
    """Run the notebooks, print the differences, and fail if there is one."""
    chosen = [path for path in sorted((root / "docs").rglob("*.ipynb")) if options.pattern in path.as_posix()]
    chosen = [path for path in chosen if "/." not in path.relative_to(root).as_posix()]
    results: dict[str, list[str]] = {}
    for path in chosen:
        name = path.relative_to(root).as_posix()
        try:
            found = notebook_run.run(path, root, record=options.record)
        except (notebook_run.NotebookError, UnreadableError, UnwritableError) as error:
            found, results[name] = [], [str(error)]
        else:
            results[name] = [f"the output of cell {each.cell} differs\n{each.diff}" for each in found]
        if not options.json:
            print("\n".join([f"{name}: {'differs' if results[name] else 'as stored'}", *results[name]]), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))
    if not chosen:
        print(f"headroom: no notebook's path contains `{options.pattern}`", file=sys.stderr)
        return USAGE
    return FAILED if any(results.values()) else OK
