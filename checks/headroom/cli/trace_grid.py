"""``headroom trace --grid``: compare estimates with traced steps, published rows and measured steps."""

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from headroom.cli import OK
from headroom.environment import observe
from headroom.execution.benchmark_run import MemoryMeter
from headroom.io.atomic_write import write_atomic
from headroom.memory.errors import EstimateError
from headroom.memory.known_errors import percent
from headroom.memory.recorded_errors import estimated_again, judged_steps, published_steps, sized
from headroom.memory.tracing.grid import grid, measured_grid, measured_step, traced_step
from headroom.records import load
from headroom.records.memory_errors import FOLDER, ComparedStep, MeasuredStep, MemoryErrors, TracedStep, errors_of


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the error of each step, and with ``--record`` write the records; steps that are recorded are kept."""
    if options.measure:
        return _measured(root, options)
    tree = load(root)
    rows = list(sized(tree.published.memory.values(), tree.shapes))
    published, judged = tuple(published_steps(rows, root)), tuple(judged_steps(rows, root))
    for each in published:
        print(f"{each.table} {each.row}: {percent(each.estimated, each.measured):+.1f} %")
    _write(root, options, "published", MemoryErrors(**_today(), published=published, judged=judged))
    known = [each for record in errors_of(root).values() for each in record.traced]
    traced = list[TracedStep]()
    for step in _traced(root, known):
        traced.append(step)
        if len(traced) >= len(known):  # an interrupted command keeps what was recorded before
            _write(root, options, "traced", MemoryErrors(**_today(), traced=tuple(traced)))
    return OK


def _traced(root: Path, known: Sequence[TracedStep]) -> Iterator[TracedStep]:
    """Yield each step of the grid with its trace, of which the recorded ones are kept, and with today's estimate."""
    recorded = {(each.model, str(sorted(_asked(each).items()))): each for each in known}
    for step in grid():
        found = recorded.get((step.model, str(sorted(_asked(step).items())))) or traced_step(step, root)
        yield _estimated(found, root)


def _asked(step: ComparedStep) -> dict[str, object]:
    """Return a job without its length, which is shorter where the model has fewer positions."""
    return {name: value for name, value in step.job.items() if name != "length"}


def _estimated(step: TracedStep, root: Path) -> TracedStep:
    if not step.traced:
        return step
    try:
        estimated = estimated_again(step, root)
    except EstimateError as error:
        print(f"{step.model}: {error}")
        return step.model_copy(update={"estimated": {}, "refused": str(error)[:300]})
    print(f"{step.model} {step.job}: {percent(estimated['peak'], step.traced['peak']):+.2f} %")
    return step.model_copy(update={"estimated": estimated, "refused": None})


def _measured(root: Path, options: argparse.Namespace) -> int:
    found = list[MeasuredStep]()
    order = load(root).measuring_order.memory_of(options.device)
    steps = order.steps if order else measured_grid()
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:  # a fresh process per step
        work = partial(measured_step, root=root, device=options.device, meter=MemoryMeter)
        for each in pool.imap(work, steps):
            print(f"{each.model} {each.job}: {percent(each.traced, each.measured):+.2f} %")
            found.append(each)
            _write(root, options, f"measured-{options.device}", MemoryErrors(**_today(), measured=tuple(found)))
    return OK


def _today() -> dict[str, object]:
    versions = {name: version(name) for name in ("torch", "transformers", "peft")}
    return {"versions": versions, "machine": observe("cpu").product, "date": f"{datetime.now(UTC):%Y-%m-%d}"}


def _write(root: Path, options: argparse.Namespace, name: str, record: MemoryErrors) -> None:
    if options.record:
        text = (
            record.model_dump_json(exclude_defaults=True)
            .replace('},{"model"', '},\n{"model"')
            .replace('},{"table"', '},\n{"table"')
        )
        write_atomic(root / FOLDER / f"{name}.json", text + "\n")
