"""``headroom measure``: run a session for claims or a benchmark, and add its evidence file."""

import argparse
import json
from pathlib import Path

from headroom.cli import OK, USAGE, terminal
from headroom.records import load


def run(root: Path, options: argparse.Namespace) -> int:
    """Run a session and print the path of its evidence; ``--wanted`` and ``--via`` have modules of their own."""
    if fault := _wrong_use(options):
        terminal.say(fault)
        return USAGE
    if options.via:
        from headroom.cli import measure_fleet  # noqa: PLC0415 - needed only here

        return measure_fleet.run(root, options)
    if options.wanted:
        from headroom.cli import measure_wanted  # noqa: PLC0415 - needed only here

        return measure_wanted.run(root, options)
    session = terminal.measured(load(root), options.names, options.out or root, options.device)
    if isinstance(session, int):
        return session
    print(json.dumps({"evidence": str(session.kept)}) if options.json else session.kept)
    return OK


def _wrong_use(options: argparse.Namespace) -> str:
    """Return what is wrong with the combination of options, or an empty string."""
    if options.wanted == bool(options.names):
        return "name a benchmark or claims, or write --wanted --minutes N without names"
    if options.via and (options.wanted or options.out or options.pack):
        return "--via takes names, and neither --wanted nor --out nor --pack"
    if not options.via and (options.machines != 1 or options.engine_option):
        return "--machines and --engine-option belong to --via local|slurm|ray"
    return ""
