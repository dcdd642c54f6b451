"""Rule `memory`: recorded estimates are those of today's coefficients."""

from collections.abc import Iterator
from pathlib import Path

from headroom.memory.errors import EstimateError
from headroom.memory.recorded_errors import estimated_again, judged_steps, published_steps, sized
from headroom.records import Problem
from headroom.records.memory_errors import FOLDER, TracedStep
from headroom.rules.context import Context

_REMEDY = "run `headroom trace --grid --record`"


def memory_errors(context: Context) -> Iterator[Problem]:
    """Report recorded estimates of traced steps and of published rows that are computed differently today."""
    for name, record in context.tree.memory_errors.items():
        for step in record.traced:
            if fault := _fault(step, context.tree.root):
                yield Problem(f"{FOLDER}/{name}.json", None, "memory", "", fault, _REMEDY)
    yield from _published(context)


def _fault(step: TracedStep, root: Path) -> str | None:
    """Return what is wrong with a recorded estimate, or None."""
    if not step.traced:
        return None
    try:
        today = estimated_again(step, root)
    except EstimateError as error:
        return f"{step.model}, {step.job}: {error}" if step.estimated else None
    changed = [name for name in today if step.estimated.get(name) != today[name]]
    return f"{step.model}, {step.job}: the estimate of {', '.join(changed)} is different today" if changed else None


def _published(context: Context) -> Iterator[Problem]:
    """Report published rows whose recorded estimate is another one today, or is missing on one of the two sides."""
    tree = context.tree
    recorded = {
        (each.table, each.row): (name, each) for name, found in tree.memory_errors.items() for each in found.published
    }
    rows = list(sized(tree.published.memory.values(), tree.shapes))
    today = {(each.table, each.row): each for each in published_steps(rows, tree.root)}
    judged = {(each.table, each.row): each for each in judged_steps(rows, tree.root)}
    before = {(each.table, each.row): each for found in tree.memory_errors.values() for each in found.judged}
    if not recorded and not before:
        return
    for table, row in sorted(recorded.keys() | today.keys() | judged.keys() | before.keys()):
        name, old = recorded.get((table, row), ("published", None))
        if old != today.get((table, row)) or before.get((table, row)) != judged.get((table, row)):
            fault = f"{table}, {row}: the estimate is different today, or is recorded or computed alone"
            yield Problem(f"{FOLDER}/{name}.json", None, "memory", "", fault, _REMEDY)
