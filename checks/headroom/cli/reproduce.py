"""``headroom reproduce``."""

import argparse
import json
import sys
from difflib import get_close_matches
from pathlib import Path

from headroom.cli import OK, USAGE, terminal
from headroom.cli.reproduction_report import as_json, as_text
from headroom.environment import MachineState
from headroom.execution import hardware_class_draft
from headroom.records import Evidence, MeasuredClaim, Problem, Tree, load
from headroom.records.paths import claim_path
from headroom.verdicts.reproduction import reproduction

HOME = ".cache/reproduced"
"""Where evidence goes unless somebody says otherwise: outside of the registry, so that trying changes nothing."""
_NOT_RUN = {
    "cited": "is cited: it reports what somebody else measured, and there is nothing here to run",
    "modelled": "is modelled: a formula follows from what is known, and there is nothing here to run; "
    "reproduce the measured claims that it is held to",
}


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure one claim here, and print what came out beside what the registry holds."""
    tree = load(root)
    if broken := _broken(tree, options.claim):
        terminal.say(f"{broken}; `headroom check` says all")
        return USAGE
    claim = tree.claims.get(options.claim)
    if claim is None:
        terminal.say(_unknown(tree, options.claim))
        return USAGE
    if not isinstance(claim, MeasuredClaim):
        terminal.say(f"`{claim.id}` {_NOT_RUN.get(claim.kind, f'is {claim.kind}, and not measured')}")
        return USAGE
    entries: list[str] = []

    def unclassed(machine: MachineState) -> None:
        entries.append(hardware_class_draft.entry(machine))
        terminal.say("this machine is of no hardware class yet: it can reproduce, and not contribute")
        print(f"{_BEFORE_IT_CONTRIBUTES}\n\n{entries[0]}", file=sys.stderr)

    session = terminal.measured(tree, [claim.id], options.out or root / HOME, options.device, unclassed)
    if isinstance(session, int) or session.kept is None:
        return session if isinstance(session, int) else USAGE
    kept = session.kept.resolve()
    evidence = Evidence.model_validate_json(kept.read_text(encoding="utf-8"))
    place = f"checks/evidence/{claim.benchmark}/{kept.name}"
    found = reproduction(tree, claim, evidence, place)
    shown = str(kept.relative_to(root)) if kept.is_relative_to(root) else str(kept)
    if options.json:
        print(json.dumps(as_json(found, shown, entries[0] if entries else None), indent=1))
    else:
        print(as_text(found, shown, place))
    return OK


_BEFORE_IT_CONTRIBUTES = (
    "To contribute, add this entry to checks/facts/hardware-classes.yml first, and write what it marks:"
)


def _broken(tree: Tree, name: str) -> Problem | None:
    """What is wrong with a record without which nothing can be said of the claim."""
    needed = (claim_path(name), "checks/facts/hardware-classes.yml")
    return next((problem for problem in tree.problems if problem.path in needed), None)


def _unknown(tree: Tree, name: str) -> str:
    """What to say of a name that is no claim."""
    of_benchmark = [claim.id for claim in tree.measured() if claim.benchmark == name]
    if of_benchmark:
        return f"`{name}` is a benchmark; reproduce one of its claims: {', '.join(of_benchmark)}"
    close = get_close_matches(name, tree.claims, n=3)
    meant = f"did you mean {' or '.join(close)}?" if close else "`headroom verdict` lists all"
    return f"there is no claim `{name}`; {meant}"
