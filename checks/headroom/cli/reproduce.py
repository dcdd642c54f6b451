"""``headroom reproduce``: measure a claim on this machine, and compare the result with the registry."""

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
"""The default folder of the evidence; it is outside the registry, so that a reproduction changes no verdict."""
_NOT_RUN = {
    "cited": "is cited: somebody else measured it, so there is no benchmark to run; see the source on its page",
    "reported": "is reported: somebody else measured it and published the rows; see the rows on its page",
    "modelled": "is modelled: it is a formula, so there is no benchmark to run; "
    "reproduce the measured claims that check the formula",
}


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure one claim, and print the result next to those of the registry."""
    tree = load(root)
    if broken := _broken(tree, options.claim):
        terminal.say(f"{broken}; `headroom check` lists all problems")
        return USAGE
    claim = tree.claims.get(options.claim)
    if claim is None:
        terminal.say(_unknown(tree, options.claim))
        return USAGE
    if not isinstance(claim, MeasuredClaim):
        terminal.say(f"`{claim.id}` {_NOT_RUN.get(claim.kind, f'is {claim.kind}, not measured')}")
        return USAGE
    entries: list[str] = []

    def draft_class(machine: MachineState) -> None:
        entries.append(hardware_class_draft.entry(machine))
        terminal.say("this machine matches no hardware class: it can reproduce the claim, but not contribute evidence")
        print(f"{_BEFORE_IT_CONTRIBUTES}\n\n{entries[0]}", file=sys.stderr)

    session = terminal.measured(tree, [claim.id], options.out or root / HOME, options.device, draft_class)
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
    "To contribute, first add this entry to checks/facts/hardware-classes.yml, and replace its TODO marks:"
)


def _broken(tree: Tree, name: str) -> Problem | None:
    """Return the first problem of the claim's file or of the hardware classes, which both are needed."""
    needed = (claim_path(name), "checks/facts/hardware-classes.yml")
    return next((problem for problem in tree.problems if problem.path in needed), None)


def _unknown(tree: Tree, name: str) -> str:
    """Return the message for a name that is not a claim's id."""
    of_benchmark = [claim.id for claim in tree.measured() if claim.benchmark == name]
    if of_benchmark:
        return f"`{name}` is a benchmark; reproduce one of its claims: {', '.join(of_benchmark)}"
    close = get_close_matches(name, tree.claims, n=3)
    meant = f"did you mean {' or '.join(close)}?" if close else "`headroom verdict` lists all claims"
    return f"there is no claim `{name}`; {meant}"
