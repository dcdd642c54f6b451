"""``headroom plan``: print the layouts of a training run over a cluster's GPUs, best first."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from headroom.cli import OK, USAGE
from headroom.cli.plan_options import PLAN_FIELDS, SHOWN
from headroom.io.atomic_write import write_atomic
from headroom.memory.errors import EstimateError
from headroom.pictures.plan_bars import picture, seconds_of
from headroom.pictures.standalone import standalone
from headroom.planner.errors import COVERED, in_percent
from headroom.planner.plan import LEFT_OUT, Plan, plan
from headroom.planner.search import PlannedLayout

_TEXTS = 2
"""The first columns, which are texts."""
_HEAD = ("", "layout", "micro-batch", "checkpointing", "s/step", "interval", "tokens/s/GPU", "exposed", "bubble", "GiB")


def run(root: Path, options: argparse.Namespace) -> int:
    """Print the plan as text, as a table or as JSON, and draw it if asked; return 2 if it cannot be made."""
    given = {name: value for name in PLAN_FIELDS if (value := getattr(options, name)) is not None}
    try:
        found = plan(options.model, root=root, **given)
    except EstimateError as error:
        print(f"headroom: {error}", file=sys.stderr)
        return USAGE
    shown = found.layouts if options.all else found.layouts[:SHOWN]
    if options.svg and shown:
        write_atomic(options.svg, standalone(picture(found, shown)))
    elif options.svg:
        print("headroom: svg: no layout fits, so no picture was written", file=sys.stderr)
    if options.json:
        print(json.dumps(found.to_dict(), indent=1))
    else:
        print("\n".join(_markdown(found, shown) if options.table else _text(found, shown)))
    return OK


def _text(found: Plan, shown: Sequence[PlannedLayout]) -> Iterator[str]:
    cluster = found.cluster.cluster
    tokens = f"{found.batch:,} sequences of {found.length:,} tokens per step"
    yield f"{found.model} on {cluster.gpus:,} × {found.cluster.title}: {tokens}"
    yield f"Layouts that fit: {len(found.layouts)}. Layouts that do not fit: {found.without_room}."
    if not found.layouts:
        if found.least:
            name, (low, high) = found.least
            sizes = f"{low / 2**30:,.1f} to {high / 2**30:,.1f} GiB per GPU, with {name}"
            yield f"The least is {sizes}; the card has {found.cluster.memory / 2**30:.1f} GiB."
        chunked = "" if found.loss == "chunked" else ", or --loss chunked"
        yield f"Use more GPUs, a larger card, a shorter length{chunked}."
    else:
        yield ""
        yield from _columns([_HEAD, *(_cells(found, each) for each in shown)])
        yield ""
        yield from _judgement(found)
    yield ""
    yield "Assumptions:"
    yield from (f"  {each}" for each in found.notes)
    yield "Not counted:"
    yield from (f"  {each}" for each in LEFT_OUT)


def _judgement(found: Plan) -> Iterator[str]:
    accuracy = found.accuracy
    if len(found.layouts) > 1:
        if found.tied > 1:
            yield f"=  cannot tell from the fastest ({found.tied} layouts): less than the median error"
        else:
            yield "The first is faster than all others by more than the median error"
        if accuracy.same is None or accuracy.other is None:
            yield "   (too few published runs of such models to know it)"
        else:
            same, other = (f"{in_percent(each):.1f} %" for each in (accuracy.same, accuracy.other))
            yield f"   ({same} between layouts that divide the model alike, {other} between others)"
    yield "?  may fit, within the error of the memory estimate; --sure leaves it out"
    yield f"The interval covers {COVERED:.0%} of {accuracy.runs} published runs of such models."


def _cells(found: Plan, each: PlannedLayout) -> tuple[str, ...]:
    between = found.interval(each)
    low, high = (f"{size / 2**30:.0f}" for size in each.needed)
    tied = not each.slower and found.tied > 1
    mark = ("=" if tied else "") + ("" if each.verdict == "fits" else "?")
    seconds = each.time.seconds
    return (
        mark,
        each.name,
        f"{each.work.batch} × {each.work.accumulation}",
        "full" if each.work.recompute else "none",
        seconds_of(seconds),
        f"{seconds_of(between[0])}-{seconds_of(between[1])}" if between else "unknown",
        f"{each.time.rate:,.0f}",
        f"{each.time.communication / seconds:.0%}",
        f"{each.time.bubble / seconds:.0%}",
        f"{low}-{high}",
    )


def _columns(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(
            f"{cell:<{width}}" if number < _TEXTS else f"{cell:>{width}}"
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


def _markdown(found: Plan, shown: Sequence[PlannedLayout]) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield f"|{'---|' * len(_HEAD)}"
    yield from (f"| {' | '.join(_cells(found, each))} |" for each in shown)
