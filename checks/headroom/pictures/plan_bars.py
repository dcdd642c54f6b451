"""Draw a training plan: a bar per layout, with the parts of its predicted step time, as the page on plans has them."""

from collections.abc import Sequence
from itertools import groupby

from headroom.memory.fitting import FITS
from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import width_of
from headroom.planner.plan import Plan
from headroom.planner.search import PlannedLayout
from headroom.planner.step_time import StepTime

PARTS = {"compute": "f", "exposed communication": "g", "bubble": "o", "optimizer step and stragglers": "w"}
"""The parts of a step time with their fills, in the order of a bar."""
BAR = 14
"""The height of a bar in pixels."""
_GROUPS = {False: "Fastest: differences within the error", True: "Slower by more than the error"}
_WHOLE = 100
_GIB = 2**30


def picture(found: Plan, shown: Sequence[PlannedLayout]) -> Picture:
    """Return the picture of the shown layouts.

    Args:
        found: the plan.
        shown: its layouts that are drawn, at least one.
    """
    job = f"{found.batch:,} sequences of {found.length:,} tokens per step"
    title = f"{found.model} on {found.cluster.cluster.gpus:,} × {found.cluster.title}: {job}"
    described = sentences(f"{each.name}: {seconds_of(each.time.seconds)} s, {_sum(each.time)}" for each in shown)
    return Picture("plan", title, described, lambda canvas: _draw(canvas, title, found, shown))


def parts_of(time: StepTime) -> dict[str, float]:
    """Return the seconds of each drawn part of a step."""
    seconds = (time.compute, time.communication, time.bubble, time.optimizer + time.straggling)
    return dict(zip(PARTS, seconds, strict=True))


def seconds_of(seconds: float) -> str:
    """Return seconds with three digits, without an exponent."""
    return f"{seconds:.0f}" if seconds >= _WHOLE else f"{seconds:.3g}"


def _sum(time: StepTime) -> str:
    return " + ".join(f"{name} {seconds_of(size)}" for name, size in parts_of(time).items() if size)


def _draw(canvas: Canvas, title: str, found: Plan, shown: Sequence[PlannedLayout]) -> None:
    y = canvas.paragraph((0, 13), title, canvas.width, "h1", 17)
    y = _legend(canvas, y)
    scale = (canvas.width - 2) / max(each.time.seconds for each in shown)
    for slower, layouts in groupby(shown, key=lambda each: each.slower):
        if len(found.layouts) > 1:
            y += 16
            canvas.text((0, y), f"{_GROUPS[slower]} ({sum(each.slower is slower for each in found.layouts):,})", "b")
            y += 6
        for each in layouts:
            y = _row(canvas, found, each, (y, scale))


def _legend(canvas: Canvas, y: float) -> float:
    """Name the parts, and return where the rows begin."""
    x = 0.0
    for name, fill in PARTS.items():
        if x and x + 20 + width_of(name, "s") > canvas.width:
            x, y = 0.0, y + 18
        canvas.rect(x, y - 9, (14, 12), fill=fill)
        canvas.text((x + 20, y + 1), name, "s m")
        x += 36 + width_of(name, "s")
    return y + 8


def _row(canvas: Canvas, found: Plan, each: PlannedLayout, place: tuple[float, float]) -> float:
    """Draw a layout's names, bar and figures, and return where the next one begins."""
    y, scale = place
    low, high = (f"{size / _GIB:.0f}" for size in each.needed)
    fits = "" if each.verdict == FITS else ", may not fit"
    between = found.interval(each)
    interval = f", interval {seconds_of(between[0])} to {seconds_of(between[1])} s" if between else ""
    checkpointing = "full" if each.work.recompute else "no"
    canvas.text((0, y + 16), each.name, "b")
    canvas.text((canvas.width, y + 16), f"{seconds_of(each.time.seconds)} s", "b", "end")
    x = 0.0
    for name, size in parts_of(each.time).items():
        if size > 0:
            canvas.rect(x, y + 22, (size * scale, BAR), fill=PARTS[name])
            x += size * scale
    said = (
        f"micro-batch {each.work.batch} × {each.work.accumulation}, {checkpointing} checkpointing, "
        f"{low} to {high} GiB{fits}, {each.time.rate:,.0f} tokens/s/GPU{interval}"
    )
    return canvas.paragraph((0, y + 22 + BAR + 13), said, canvas.width, "s m") - 6
