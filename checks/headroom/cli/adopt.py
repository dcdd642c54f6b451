"""``headroom adopt``: check the pack of another machine, add its records, and print which verdicts change."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from headroom.changes.adoption import Adoption, adoption, as_json
from headroom.cli import FAILED, OK
from headroom.cli.terminal import say
from headroom.io import atomic_write
from headroom.io.record_pack import PackError
from headroom.verdicts.summary import VerdictRow


def run(root: Path, options: argparse.Namespace) -> int:
    """Add the records of a pack that pass every check; fail if one is refused."""
    try:
        found = adoption(root, options.file)
    except PackError as error:
        say(f"{options.file} is refused, and nothing of it is added: {error}")
        return FAILED
    for name, text in found.added.items():
        atomic_write.add(root / name, text)
    if options.json:
        print(json.dumps(as_json(found), indent=1))
    else:
        print("\n".join(_lines(found)))
    if found.draft:
        say("first add this entry to checks/facts/hardware-classes.yml, and replace its TODO marks; then adopt again")
    return FAILED if found.refused else OK


def _lines(found: Adoption) -> Iterator[str]:
    """Yield what happened to each record, and each new verdict, as text."""
    manifest = found.manifest
    seen, commit = manifest.environment, manifest.commit or "no commit"
    versions = ", ".join(f"{name} {number}" for name, number in seen.versions.items())
    yield f"measured on {seen.product} ({manifest.hardware_class}) with {versions}, at {commit}"
    yield from (f"added {name}" for name in sorted(found.added))
    yield from (f"already here {name}" for name in sorted(found.present))
    yield from (f"refused {name}: {why}" for name, why in sorted(found.refused.items()))
    for change in found.verdicts:
        at = ", ".join(f"{name}={value}" for name, value in change.point.items())
        where = f"{change.claim} on {change.hardware_class}" + (f" at {at}" if at else "")
        yield f"{where}: {_verdict(change.before)} → {_verdict(change.after)}"
    if found.draft:
        yield f"\n{found.draft}"


def _verdict(row: VerdictRow | None) -> str:
    if row is None:
        return "unmeasured"
    interval = f", {row.ratio:.3g}× [{row.low:.3g}, {row.high:.3g}]" if row.ratio is not None else ""
    return f"{row.status} ({row.reason}){interval}" if row.reason else f"{row.status}{interval}"
