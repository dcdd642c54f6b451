"""Make the picture of a name from its data, the runs of snippets and the verdicts."""

from collections.abc import Iterator

from headroom.memory import error_samples
from headroom.pages.calculations import Source
from headroom.pages.figure_sources import source_of
from headroom.pictures import (
    batch_masks,
    bit_layout,
    causal_balance,
    device_mesh,
    error_strips,
    forest,
    load_curves,
    log_curves,
    memory_timeline,
    parallelism,
    pipeline_schedules,
    profiler_lanes,
    published_curves,
    saved_tensors,
    stacked_bars,
    step_timeline,
)
from headroom.pictures.canvas import Picture
from headroom.planner.recorded import step_time_errors
from headroom.records.claims import MeasuredClaim
from headroom.records.parallel_pictures import (
    CausalBalance,
    DeviceMesh,
    Parallelism,
    PipelineSchedules,
    StepTimeline,
)
from headroom.records.pictures import (
    Bars,
    BatchLayouts,
    Comparison,
    Curves,
    Decision,
    ErrorStrips,
    Forest,
    LoadCurves,
    NumberFormats,
    PublishedCurves,
    SavedTensors,
    Timeline,
    Traces,
)
from headroom.records.tree import Tree
from headroom.verdicts import Board

Described = BatchLayouts | NumberFormats | Decision | Parallelism | PipelineSchedules | DeviceMesh | CausalBalance
"""The kinds that need nothing but their own data."""


def picture(name: str, tree: Tree, board: Board) -> Picture | Decision:
    """Return a picture to draw, or the data of a decision, which is HTML.

    Raises:
        LookupError: there is no such picture, or what it draws from does not exist.
        ValueError: a formula or a recorded row cannot be read.
    """
    data = tree.pictures.get(name)
    if data is None:
        raise LookupError(f"there is no picture `{name}`")
    if isinstance(data, Bars | SavedTensors | StepTimeline | Curves):
        return _calculated(name, data, source_of(tree, board))
    if isinstance(data, ErrorStrips):
        if data.show == "step-time":
            return error_strips.picture(name, data, step_time_errors(tree))
        return error_strips.picture(name, data, dict(error_samples.strips(tree, data.show)))
    if isinstance(data, Forest):
        return forest.picture(name, data.title, [_panel(each, tree, board) for each in data.comparisons])
    if isinstance(data, PublishedCurves):
        return published_curves.picture(name, data, tree.published.tables)
    return _recorded(name, data, tree) if isinstance(data, Timeline | Traces | LoadCurves) else _computed(name, data)


def _calculated(name: str, data: Bars | SavedTensors | StepTimeline | Curves, source: Source) -> Picture:
    """Return a picture of formulas."""
    if isinstance(data, Bars):
        return stacked_bars.picture(name, data, source)
    if isinstance(data, SavedTensors):
        return saved_tensors.picture(name, data, source)
    if isinstance(data, StepTimeline):
        return step_timeline.picture(name, data, source)
    return log_curves.picture(name, data, source)


def _recorded(name: str, data: Timeline | Traces | LoadCurves, tree: Tree) -> Picture:
    """Return a picture of what a snippet printed."""
    output = _output(tree, data.snippet)
    if isinstance(data, Timeline):
        return memory_timeline.picture(name, data, output)
    if isinstance(data, LoadCurves):
        return load_curves.picture(name, data, output)
    return profiler_lanes.picture(name, data, output)


def _computed(name: str, data: Described) -> Picture | Decision:
    """Return a picture that needs nothing but its own data."""
    if isinstance(data, BatchLayouts):
        return batch_masks.picture(name, data)
    if isinstance(data, Parallelism):
        return parallelism.picture(name, data)
    if isinstance(data, PipelineSchedules):
        return pipeline_schedules.picture(name, data)
    if isinstance(data, CausalBalance):
        return causal_balance.picture(name, data)
    if isinstance(data, DeviceMesh):
        return device_mesh.picture(name, data)
    return bit_layout.picture(name, data) if isinstance(data, NumberFormats) else data


def _output(tree: Tree, snippet: str) -> str:
    """Return what a snippet printed when it last ran."""
    found = [run.output for (name, _), run in sorted(tree.runs.items()) if name == snippet and run.output]
    if not found:
        raise LookupError(f"no run of the snippet `{snippet}` is recorded")
    return found[0]


def _panel(comparison: Comparison, tree: Tree, board: Board) -> forest.Panel:
    ratios = tuple(ratio for name, claim in comparison.claims.items() for ratio in _ratios(name, claim, tree, board))
    if not ratios:
        raise LookupError(f"no claim of `{comparison.title}` has evidence")
    return forest.Panel(comparison.title, ratios)


def _ratios(name: str, claim_id: str, tree: Tree, board: Board) -> Iterator[forest.Ratio]:
    """Yield a reported claim's ratio per record, and a measured one's per hardware class and point."""
    claim = tree.claims.get(claim_id)
    if claim is None:
        raise LookupError(f"there is no claim `{claim_id}`")
    for result in board.reported[claim_id].results if claim_id in board.reported else ():
        low, high = result.low or result.ratio, result.high or result.ratio
        runs = f"{len(result.ratios)} reruns" if len(result.ratios) > 1 else "1 run"
        torch = result.record.software.versions.get("torch", "").partition("+")[0]
        source = ", ".join(filter(None, (f"torch {torch}" if torch else "", runs, result.record.source.title)))
        yield forest.Ratio("reported", name, result.record.hardware.product, low, result.ratio, high, source)
    for class_name, standing in board.standings[claim_id].items() if isinstance(claim, MeasuredClaim) else ():
        for point in standing.verdict.points if standing.verdict else ():
            where = tree.classes[class_name].short or class_name
            runs = f"{len(point.subject)} blocks"
            yield forest.Ratio("measured", name, where, point.low, point.ratio, point.high, runs)
