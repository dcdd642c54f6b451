"""``headroom machine``: measure this machine's matmul FLOP/s, memory bandwidth and kernel-launch time."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from headroom import environment
from headroom.cli import FAILED, OK, USAGE
from headroom.execution import machine_record, session_lock, session_plan
from headroom.io import atomic_write
from headroom.records import load
from headroom.records.machines import Machine, Measurement

_NONE = "none"


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure this machine and print the figures; with ``--record``, write a machine record."""
    try:
        with session_lock.exclusive_session(root), session_lock.stop_on_signals():
            found, kept = _measured(root, options)
    except (session_plan.MeasureError, session_lock.GuardError, ValueError) as error:
        _say(str(error))
        return USAGE
    except ImportError as error:
        _say(f"{error.name} is not installed; run pip install 'headroom[snippets]'")
        return USAGE
    except (RuntimeError, KeyboardInterrupt) as error:
        _say(f"{error}; no record is written")
        return FAILED
    if options.json:
        print(json.dumps({"machine": found.as_written(), "record": str(kept) if kept else None}, indent=1))
        return OK
    print("\n".join(_lines(found)))
    if kept:
        print(kept)
    return OK


def _measured(root: Path, options: argparse.Namespace) -> tuple[Machine, Path | None]:
    from headroom.execution.isolation import QUIET, ForkServer  # noqa: PLC0415 - its imports are needed only to measure

    tree = load(root)
    observed = environment.observe(options.device, threads=int(QUIET["OMP_NUM_THREADS"]))
    fitting = [name for name, known in tree.classes.items() if known.holds(observed)]
    name = session_plan.hardware_class(tree, observed) if options.record else (fitting or [_NONE])[0]
    if options.record:
        atomic_write.probe(root / "checks/machines")
    today = f"{session_lock.now(tree):%Y-%m-%d}"
    with ForkServer(QUIET, preload=("torch",)) as server:
        found = machine_record.measure(observed, name, today, server.run)
    with session_lock.signals_ignored():
        return found, machine_record.keep(found, root) if options.record else None


def _lines(found: Machine) -> Iterator[str]:
    """Yield the best and the median of each figure, as text."""
    seen, others = found.environment, found.others_cpu
    known = "unknown" if others is None else f"{others:.0%}"
    name = found.hardware_class if found.hardware_class != _NONE else "no hardware class"
    yield f"{seen.product}, {seen.threads} of {seen.cores} cores used, {name}; CPU use of other processes: {known}"
    for each, measured in found.products.items():
        yield _line(f"matmul, {each}", measured, 1e12, "TFLOP/s")
    for kind, measured in found.bandwidth.items():
        yield _line(f"memory, {kind}", measured, 1e9, "GB/s")
    yield _line("launch of an operation", found.launch, 1e-6, "µs", lower=True)
    for each, why in found.not_measured.items():
        yield f"matmul, {each}: not measured ({why})"


def _line(what: str, measured: Measurement, scale: float, unit: str, *, lower: bool = False) -> str:
    best = min(measured.samples) if lower else max(measured.samples)
    top, typical = best / scale, measured.median / scale
    return f"{what}: best {top:.4g} {unit}, median {typical:.4g} ({measured.of})"


def _say(message: str) -> None:
    print(f"headroom: {message}", file=sys.stderr)
