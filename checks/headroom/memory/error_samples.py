"""The errors of memory estimates in the records of a tree: of published rows, traced steps and measured steps."""

from collections.abc import Iterator

from headroom.memory.calculators import CALCULATORS
from headroom.memory.known_errors import percent
from headroom.memory.recorded_errors import sized
from headroom.memory.validation import OURS, CalculatorError, compare_calculators
from headroom.records import Tree
from headroom.records.memory_errors import JudgedStep, MeasuredStep, PublishedStep, TracedStep

PARTS = {
    "weights": "weights and adapters",
    "forward": "forward pass",
    "backward": "backward pass",
    "optimizer": "optimizer step",
    "evaluate": "evaluation",
    "prefill": "prefill",
    "decode": "decoding",
    "peak": "peak",
}
"""The parts of a traced step that are compared, in the order of tables."""


def published_steps_of(tree: Tree) -> list[PublishedStep]:
    """Return the recorded estimates of published rows."""
    return [each for record in tree.memory_errors.values() for each in record.published]


def judged_steps_of(tree: Tree) -> list[JudgedStep]:
    """Return the recorded estimates of published jobs whose outcome on a card is known."""
    return [each for record in tree.memory_errors.values() for each in record.judged]


def unallocated_shares(tree: Tree) -> dict[bool, list[float]]:
    """Return what published processes took beyond the allocated bytes, as shares of them: of one GPU, of several."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for table in tree.published.memory.values():
        for row in table.rows:
            sizes = {each.counts: each.bytes for each in row.measured}
            layout = table.job(row).layout
            if {"allocated", "process"} <= sizes.keys():
                found[layout is None or layout.ranks == 1].append(sizes["process"] / sizes["allocated"] - 1)
    return found


def traced_steps_of(tree: Tree) -> list[TracedStep]:
    """Return the recorded traced steps that have an estimate."""
    return [each for record in tree.memory_errors.values() for each in record.traced if each.estimated]


def measured_steps_of(tree: Tree) -> list[MeasuredStep]:
    """Return the recorded measured steps."""
    return [each for record in tree.memory_errors.values() for each in record.measured]


def error_of(step: PublishedStep) -> float:
    """Return the signed error of a published row in percent."""
    return percent(step.estimated, step.measured)


def calculator_errors(tree: Tree) -> list[CalculatorError]:
    """Return the errors of our estimates and of today's calculators on the same published rows."""
    ours = {(each.table, each.row): each.estimated for each in published_steps_of(tree)}
    rows = [each for each in sized(tree.published.memory.values(), tree.shapes) if (each.table, each.row.id) in ours]
    return compare_calculators(rows, lambda row: ours[row.table, row.row.id])


def traced_errors(tree: Tree) -> dict[str, list[float]]:
    """Return the signed errors of estimates of traced steps in percent, by part."""
    errors: dict[str, list[float]] = {name: [] for name in PARTS}
    for step in traced_steps_of(tree):
        for name in step.traced.keys() & step.estimated.keys():
            errors[name].append(percent(step.estimated[name], step.traced[name]))
    return {name: each for name, each in errors.items() if each}


def strips(tree: Tree, show: str) -> Iterator[tuple[str, list[float]]]:
    """Yield names and signed errors in percent of a comparison: published, traced, measured, or calculators."""
    return _STRIPS[show](tree)


def comparisons(tree: Tree) -> dict[str, list[float]]:
    """Return the signed errors of peaks in percent, by the name of the comparison; none without a record."""
    found = {
        "published": [error_of(each) for each in published_steps_of(tree)],
        "traced": traced_errors(tree).get("peak", []),
        "measured": [percent(each.traced, each.measured) for each in measured_steps_of(tree)],
    }
    return {name: errors for name, errors in found.items() if errors}


def _by_calculator(tree: Tree) -> Iterator[tuple[str, list[float]]]:
    errors: dict[str, list[float]] = {}
    for each in calculator_errors(tree):
        if each.percent is not None:
            title = "Headroom" if each.calculator == OURS else CALCULATORS[each.calculator].title
            errors.setdefault(title, []).append(each.percent)
    yield from errors.items()


def _published(tree: Tree) -> Iterator[tuple[str, list[float]]]:
    """Yield the errors of each source, and then those of each kind of job."""
    errors: dict[str, list[float]] = {}
    kinds: dict[str, list[float]] = {}
    for each in published_steps_of(tree):
        errors.setdefault(tree.published.memory[each.table].source.title, []).append(error_of(each))
        kinds.setdefault(kind_of(each), []).append(error_of(each))
    yield from (*errors.items(), *sorted(kinds.items()))


def kind_of(step: PublishedStep) -> str:
    """Return the kind of job of a published row, with its GPUs; all rows on several GPUs are of FSDP."""
    return f"{step.kind}, {'1 GPU' if step.gpus == 1 else 'FSDP'}"


def _traced(tree: Tree) -> Iterator[tuple[str, list[float]]]:
    yield from ((PARTS[name], errors) for name, errors in traced_errors(tree).items())


def _measured(tree: Tree) -> Iterator[tuple[str, list[float]]]:
    errors: dict[str, list[float]] = {}
    for each in measured_steps_of(tree):
        errors.setdefault(f"{each.job.get('job', 'full')}, {each.device}", []).append(
            percent(each.traced, each.measured)
        )
    yield from errors.items()


_STRIPS = {"published": _published, "traced": _traced, "measured": _measured, "calculators": _by_calculator}
