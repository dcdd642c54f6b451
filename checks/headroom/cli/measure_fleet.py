"""``headroom measure --via ENGINE``: run the same session on each machine of a fleet, and collect the evidence."""

import argparse
import json
from pathlib import Path

from headroom.cli import FAILED, OK, USAGE
from headroom.cli.terminal import CANNOT_START, cannot_start, say
from headroom.execution import fleet, session_plan
from headroom.execution.fleet_task import FleetTask
from headroom.io import atomic_write
from headroom.records import load


def run(root: Path, options: argparse.Namespace) -> int:
    """Hand one task per machine to the engine; print each evidence file, and say why a machine sent none."""
    try:
        what = session_plan.plan(load(root), options.names)
        atomic_write.probe(root / "checks/evidence" / what.benchmark)
        engine = dict(each.split("=", 1) for each in options.engine_option)
    except CANNOT_START as error:
        return cannot_start(error)
    task = FleetTask(str(root), tuple(options.names), options.device, options.minutes * 60)
    say(f"{what.benchmark} on {options.machines} machines, {what.blocks * len(what.slots)} runs on each")
    added: list[str] = []
    lost = 0
    try:
        for number, result in enumerate(fleet.run(options.via, task, options.machines, engine), start=1):
            path, found = fleet.adopted(result, root)
            place = f"{number} of {options.machines} (machine {found.machine})"
            if path is None:
                lost += 1
                say(f"{place}: not run: {found.reason}")
                continue
            added.append(str(path.relative_to(root)))
            say(f"{place}: measured")
            if not options.json:
                print(added[-1], flush=True)
    except fleet.FleetError as error:
        say(str(error))
        return USAGE
    if options.json:
        print(json.dumps({"added": added, "not_run": lost}))
    return OK if added and not lost else FAILED
