"""Read what the planner needs of a project: accelerators, published runs, and the model's constants."""

from functools import lru_cache
from pathlib import Path

from headroom.memory.errors import EstimateError
from headroom.planner.errors import RunError, is_experts, run_errors
from headroom.planner.published_runs import Run, read_runs
from headroom.planner.step_time import Constants
from headroom.records import training_runs
from headroom.records.accelerator_files import read_families
from headroom.records.accelerators import Family
from headroom.records.loader import Reader
from headroom.records.model_shapes import ModelShape, read_shape
from headroom.records.step_time_model import PATH, StepTimeModel
from headroom.records.training_runs import RunTable
from headroom.records.tree import Tree


def constants_of(model: StepTimeModel) -> Constants:
    """Return the constants of the step-time model."""
    return Constants(link=model.link.value, **model.constants.model_dump())


def runs_of(tree: Tree) -> tuple[Run, ...]:
    """Return the published runs of a tree."""
    return tuple(read_runs(tree.published.training.values(), tree.shapes, tuple(tree.families.values())))


def errors_of(tree: Tree) -> list[RunError]:
    """Return the error of each published run of a tree; none if it has no constants or no runs to fit."""
    runs = runs_of(tree)
    fitted = any(run.row.use == "fitted" for run in runs)
    return run_errors(runs, constants_of(tree.step_time)) if tree.step_time and fitted else []


def step_time_errors(tree: Tree) -> dict[str, list[float]]:
    """Return the signed errors of predicted step times in percent, by use of the runs, ours before the baseline's."""
    groups: dict[str, list[float]] = {}
    for use in ("fitted", "seen", "blind"):
        for each in errors_of(tree):
            if each.run.row.use == use and not is_experts(each.run):
                groups.setdefault(f"step-time model, {use} runs", []).append(each.model)
                groups.setdefault(f"same utilization, {use} runs", []).append(each.baseline)
    return groups


@lru_cache(maxsize=4)
def read_families_of(root: Path) -> tuple[Family, ...]:
    """Return the families of accelerators of a project."""
    return tuple(read_families(Reader(root)).values())


@lru_cache(maxsize=4)
def read_constants(root: Path) -> Constants:
    """Return the constants of a project's step-time model.

    Raises:
        EstimateError: there is no valid record of them.
    """
    reader = Reader(root)
    for file in reader.each("checks/facts", ".yml", "facts"):
        if file.name == PATH and (model := reader.yaml(file, "facts", StepTimeModel.model_validate_json)):
            return constants_of(model)
    raise EstimateError("root", f"has no valid {PATH}", "run it in the project's folder")


@lru_cache(maxsize=4)
def read_published(root: Path) -> tuple[Run, ...]:
    """Return the published runs of a project; an invalid file is left out, and `headroom check` reports it."""
    reader = Reader(root)
    files = reader.each(training_runs.FOLDER, ".yml", "published")
    read = (reader.yaml(file, "published", RunTable.model_validate_json) for file in files)
    tables = [table for table in read if table is not None]
    names = {row.model for table in tables for row in table.rows if row.model not in table.models}
    return tuple(
        read_runs(tables, {name: shape for name in names if (shape := _shape(name, root))}, read_families_of(root))
    )


def _shape(name: str, root: Path) -> ModelShape | None:
    try:
        return read_shape(name, root)
    except (LookupError, ValueError):
        return None
