"""Rule `training`: published training runs name recorded accelerators and models that the planner knows."""

from collections.abc import Iterator

from headroom.memory.errors import EstimateError
from headroom.planner.published_runs import read_runs
from headroom.records import Problem
from headroom.records.training_runs import FOLDER, RunTable
from headroom.rules.context import Context


def training(context: Context) -> Iterator[Problem]:
    """Report published training runs that the planner cannot predict."""
    for table in context.tree.published.training.values():
        yield from _unknown_models(context, table)
        if any(problem.path.startswith("checks/facts/accelerators/") for problem in context.problems):
            continue  # an accelerator that cannot be read would look unknown
        try:
            list(read_runs([table], context.tree.shapes, tuple(context.tree.families.values())))
        except EstimateError as error:
            yield _problem(context, table, f"the planner cannot read these runs: {error}", "correct the record")


def _unknown_models(context: Context, table: RunTable) -> Iterator[Problem]:
    for name in sorted({row.model for row in table.rows} - {*table.models} - {*context.tree.shapes}):
        message = f"there is no model shape `{name}`"
        yield _problem(
            context, table, message, f"correct it, or add it to `models` or as checks/facts/models/{name}.yml"
        )
    for name in sorted({*table.models} - {row.model for row in table.rows}):
        yield _problem(context, table, f"no row has the model `{name}`", "delete it from `models`, or add its rows")


def _problem(context: Context, table: RunTable, message: str, remedy: str) -> Problem:
    path = f"{FOLDER}/{table.id}.yml"
    return Problem(path, context.tree.documents[path].line(("id",)), "training", "", message, remedy)
