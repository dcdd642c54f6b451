"""``headroom changes``: compare verdicts, claims and evidence with an earlier commit."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headroom.changes import HistoryError, changes, report
from headroom.cli import FAILED, OK, USAGE


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the differences from an earlier commit; fail if add-only data was changed or deleted."""
    try:
        found = changes(root, options.against)
    except HistoryError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    if options.json:
        print(json.dumps(_plain(found), indent=1))
    elif options.markdown:
        print(report.markdown(found), end="")
    else:
        for line in report.lines(found):
            print(line)
        print(report.summary(found), file=sys.stderr)
    return FAILED if found.problems else OK


def _plain(found: Any) -> dict[str, Any]:
    claims = {name: [claim.id for claim in getattr(found, name)] for name in ("added", "retired")}
    return {**asdict(found), **claims}
