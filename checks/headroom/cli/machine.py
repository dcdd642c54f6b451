"""``headroom machine``: measure this machine's matmul FLOP/s, memory bandwidth and kernel-launch time."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from headroom import environment
from headroom.cli import FAILED, OK
from headroom.cli.terminal import CANNOT_START, cannot_start, say
from headroom.execution import machine_record, session_lock, session_plan
from headroom.io import atomic_write
from headroom.pictures import machine_roofline
from headroom.pictures.standalone import standalone
from headroom.records import load
from headroom.records.machines import Machine, Measurement
from headroom.records.pictures import Curves
from headroom.records.tree import Tree

_NONE = "none"


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure this machine and print the figures; with ``--record``, write a machine record."""
    try:
        with session_lock.exclusive_session(root), session_lock.stop_on_signals():
            found, kept = _measured(root, options)
    except CANNOT_START as error:
        return cannot_start(error)
    except (RuntimeError, KeyboardInterrupt) as error:
        say(f"{error}; no record is written")
        return FAILED
    curves = _curves(load(root), found)
    if options.svg:
        atomic_write.write_atomic(options.svg, standalone(machine_roofline.picture(curves)))
    if options.json:
        print(json.dumps({"machine": found.as_written(), "record": str(kept) if kept else None}, indent=1))
        return OK
    print("\n".join([*_lines(found), "", *machine_roofline.text(curves)]))
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


def _curves(tree: Tree, found: Machine) -> Curves:
    """Return the roofline of the machine, with what is printed of its class."""
    hardware = tree.classes.get(found.hardware_class)
    known = {name: each for family in tree.families.values() for name, each in family.accelerators.items()}
    return machine_roofline.curves(
        found, hardware, known.get(hardware.peak.accelerator) if hardware and hardware.peak else None
    )


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
    for link, measured in found.links.items():
        yield _line(f"link, {link}", measured, 1e9, "GB/s")
    yield _line("launch of an operation", found.launch, 1e-6, "µs", lower=True)
    for each, why in found.not_measured.items():
        yield f"matmul, {each}: not measured ({why})"


def _line(what: str, measured: Measurement, scale: float, unit: str, *, lower: bool = False) -> str:
    best = min(measured.samples) if lower else max(measured.samples)
    top, typical = best / scale, measured.median / scale
    return f"{what}: best {top:.4g} {unit}, median {typical:.4g} ({measured.of})"
