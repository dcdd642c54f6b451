"""``headroom topology``: print what a topology matrix shows, and draw the box."""

import argparse
import json
import sys
from pathlib import Path

from headroom.cli import OK, USAGE
from headroom.io.atomic_write import write_atomic
from headroom.pictures import box_topology
from headroom.pictures.standalone import standalone
from headroom.topology import TopologyError, read_topology, report

_MOST_BYTES = 1_000_000


def run(_root: Path, options: argparse.Namespace) -> int:
    """Print the report as text or as JSON; return 2 if the text cannot be read."""
    try:
        found = report(read_topology(_text(options.file)))
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        print(f"headroom: {options.file}: {reason}", file=sys.stderr)
        return USAGE
    except TopologyError as error:
        if options.json:
            print(json.dumps({"refused": error.to_dict()}, indent=1))
        else:
            print(_refusal(options.file, error), file=sys.stderr)
        return USAGE
    if options.svg:
        write_atomic(options.svg, standalone(box_topology.picture(found)))
    print(json.dumps(found.to_dict(), indent=1) if options.json else found.text())
    return OK


def _text(name: str) -> str:
    """Return the text of a file or of standard input, as far as the limit and one byte more."""
    if name == "-":
        return sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8")
    with Path(name).open("rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8")


def _refusal(name: str, error: TopologyError) -> str:
    place = f"{name}:{error.line}:{error.column}: cannot be read: {error.problem}."
    return "\n".join([place, error.remedy, *error.seen])
