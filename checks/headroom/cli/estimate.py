"""``headroom estimate``: print the estimated memory of a job per GPU, and whether it fits on a card."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from headroom.cli import OK, USAGE
from headroom.cli.estimate_options import ENGINE_FIELDS, FIELDS
from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.coefficients import stale
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, configured_job, estimate_architecture
from headroom.memory.fitting import FITS, Change, Fitting, verdict
from headroom.memory.job import Job
from headroom.memory.known_errors import KnownError, in_words
from headroom.memory.least_time import JOBS as TIMED
from headroom.memory.least_time import LeastTime, least_time, speed_of
from headroom.memory.sizes import CardMemory, card_memory, gib

_BAR, _MODELS = 40, 4


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the estimate as text or as JSON; return 2 if it cannot be made."""
    try:
        if options.engine is not None:
            from headroom.cli.vllm_report import vllm_report  # noqa: PLC0415 - needed for an engine only

            print(vllm_report(root, options))
            return OK
        _refuse_engine_options(options)
        given = {name: value for name in FIELDS if (value := getattr(options, name)) is not None}
        job = configured_job(given.pop("job", None), given)
        memory = card_memory(options.card, root) if options.card else None
        architecture = read_architecture(options.model, root)
        found = estimate_architecture(architecture, job, root)
        fitting = Fitting(architecture, job, memory.usable, root) if memory else None
        time = _least_time(architecture, job, options.card, root)
        if options.json:
            print(json.dumps({**_json(found, fitting), **({"least_time": time.to_dict()} if time else {})}, indent=1))
        else:
            timed = [*_timed(time, job.job)] if time else []
            print(_text(found, fitting, options.card, memory, timed))
    except EstimateError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    return OK


def _refuse_engine_options(options: argparse.Namespace) -> None:
    """Check that no option of an engine is given without one.

    Raises:
        EstimateError: one is.
    """
    given = [name for name in ENGINE_FIELDS if getattr(options, name) is not None]
    if given:
        raise EstimateError(given[0], "is set without an engine", "add --engine vllm")


def _least_time(architecture: Architecture, job: Job, card: str | None, root: Path) -> LeastTime | None:
    """Return the least time of an inference job on a card; None for another job, and for a card that is only a size."""
    if card is None or job.job not in TIMED or job.layout.gpus != job.layout.tensor:
        return None
    try:
        speed_of(card, root)
    except EstimateError:
        return None
    return least_time(architecture, job, card, root)


def _timed(time: LeastTime, job: str) -> Iterator[str]:
    """Yield the least time of a step in words."""
    step = "the prefill" if job == "prefill" else "a decode step"
    yield f"Least time of {step}: {1000 * time.seconds:.3g} ms, from printed rates; kernels reach a part of them"
    cache = f" and {time.cache / 1e9:.3g} GB of KV cache" if time.cache else ""
    rate = f"{time.bandwidth / 1e9:,.0f} GB/s"
    yield f"  reads {time.weights / 1e9:.4g} GB of weights{cache} at {rate}: {1000 * time.reading:.3g} ms"
    if time.rate:
        flops, peak = f"{time.flops / 1e12:.3g} TFLOP", f"{time.rate / 1e12:,.0f} TFLOPS"
        yield f"  computes {flops} at {peak}: {1000 * time.computing:.3g} ms"
    if time.experts:
        yield f"  of a layer's experts, the tokens use {time.experts:.0%} on average, if all are equally likely"


def _json(found: Estimate, fitting: Fitting | None) -> dict[str, object]:
    if not fitting:
        return found.to_dict()
    answers = {
        "card": fitting.card,
        "verdict": verdict(found.needed, fitting.card),
        "largest_batch": fitting.largest_batch(),
        "largest_length": fitting.largest_length(),
        "combination": [each.name for each in fitting.combination() or ()],
        "changes": [asdict(each) for each in fitting.changes()],
    }
    return {**found.to_dict(), "fitting": answers}


def _text(
    found: Estimate, fitting: Fitting | None, card: str | None, memory: CardMemory | None, timed: Sequence[str]
) -> str:
    lines = [*_head(found), "", *_picture(found), "", *_process(found)]
    if fitting:
        lines += ["", *_fitting(found, fitting, str(card))]
    if timed:
        lines += ["", *timed]
    size = [f"memory of the card {gib(memory.usable)}: {memory.basis}"] if memory else []
    notes = (*found.assumptions, *found.fixed.notes, *size, *_versions(found))
    lines += ["", "Assumptions:", *(f"  {each}" for each in notes)]
    return "\n".join(lines)


def _versions(found: Estimate) -> list[str]:
    """Return the versions that were traced, and a sentence for each that differs from the installed one."""
    installed = {name: version(name) for name in found.traced if find_spec(name)}
    traced = ", ".join(f"{name} {number}" for name, number in found.traced.items())
    return [f"traced with {traced}", *stale(found.traced, installed)]


def _head(found: Estimate) -> list[str]:
    job, peak = found.job, found.peak_phase
    tokens = f"batch {job.batch} × {job.length:,} tokens"
    weights = f", {job.weight_format} weights" if job.weight_format else ""
    optimizer = f", {job.optimizer}" if job.training else ""
    gpus = f", {job.layout.gpus} GPUs" if job.layout.gpus > 1 else ""
    if job.layout.pipeline > 1:
        gpus += f", pipeline stage {found.stage}"
    runner = found.runner_up
    return [
        f"{found.model}, {found.parameters:,} parameters: {job.variant}{weights}, {tokens}{optimizer}{gpus}",
        f"Peak per GPU: {gib(found.peak)} in the phase: {peak.phase} ({peak.place})"
        + (f"; second: {runner.phase}, {gib(runner.bytes)}" if runner else ""),
    ]


def _picture(found: Estimate) -> list[str]:
    """Return a bar per component at the peak, and one per phase."""
    peak = found.peak_phase
    rows = [(each.name, each.bytes, each.formula) for each in peak.components]
    bars = [_bar(name, size, found.peak) + f"  {_shortened(formula)}" for name, size, formula in rows]
    return [*bars, "", *(_bar(each.phase, each.bytes, found.peak) for each in found.phases)]


def _bar(name: str, size: int, whole: int) -> str:
    length = round(_BAR * size / max(whole, 1))
    return f"  {name:<22}{gib(size):>14}  {'█' * length}{'·' * (_BAR - length)}"


def _shortened(formula: str) -> str:
    return formula if len(formula) <= 2 * _BAR else f"{formula[: 2 * _BAR]}…"


def _process(found: Estimate) -> list[str]:
    low, high = found.needed
    return [
        f"Allocated by PyTorch: {gib(found.peak)}",
        f"Taken by the process: {gib(low)} to {gib(high)}",
        f"Known error of the peak: {in_words(found.known_error)}",
        *_compared(found.known_error),
    ]


def _compared(known: KnownError | None) -> list[str]:
    """Return which models the known error is of: a mixture of experts can differ from dense ones."""
    if known is None:
        return []
    models = ", ".join(known.models[:_MODELS]) + (
        f" and {more} more" if (more := len(known.models) - _MODELS) > 0 else ""
    )
    return [f"  compared: {models}, on {'one GPU' if known.gpus == 1 else f'up to {known.gpus} GPUs'}"]


def _fitting(found: Estimate, fitting: Fitting, card: str) -> list[str]:
    answer = verdict(found.needed, fitting.card)
    lines = [
        f"Memory of the card ({card}) that PyTorch can use: {gib(fitting.card)}. The job {answer}.",
        f"Largest batch per GPU that fits, with {found.job.length:,} tokens per sequence: {fitting.largest_batch():,}",
        f"Longest sequence that fits, with a batch of {found.job.batch:,}: {fitting.largest_length():,} tokens",
    ]
    if answer != FITS:
        together = fitting.combination()
        names = " + ".join(each.name for each in together) if together else "none of these changes, even together"
        lines.append(f"The job fits with: {names}")
    changes = [_change(each, fitting.card) for each in fitting.changes()]
    return [
        *lines,
        "Changes that lower the peak, the cheapest first:" if changes else "No change lowers the peak.",
        *changes,
    ]


def _change(change: Change, card: int) -> str:
    claims = ", ".join(change.claims) or "no claim"
    after = f"{gib(change.saved)} less, then it {verdict(change.needed, card)}"
    return f"  {change.name}: {after} (cost: {claims})"
