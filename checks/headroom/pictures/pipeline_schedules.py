"""Draw pipeline schedules to scale on one time axis, with the live activations of the first GPU below each."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.pipeline_orders import Operation, Run, simulate
from headroom.pictures.text_width import coordinate, width_of
from headroom.records.parallel_pictures import PipelineSchedules, Schedule

_FILLS: Final = {"F": "f", "B": "b", "I": "b", "W": "g"}
_KEY: Final = {"f": "forward", "b": "backward", "g": "weight gradients"}
_LEFT: Final = 22
_LANE: Final = 17
_UNIT: Final = 4.0
_DIGIT: Final = 8.5


@dataclass(frozen=True, slots=True)
class Panel:
    """A schedule and its simulated run."""

    data: Schedule
    run: Run


def picture(name: str, data: PipelineSchedules) -> Picture:
    """Return the schedules with their idle share and their live micro-batches in words."""
    panels = [Panel(each, simulate(each.schedule, data.stages, data.micro_batches)) for each in data.schedules]
    start = (
        f"{data.stages} GPUs, {data.micro_batches} micro-batches; a forward pass through one GPU takes 1, a backward "
        "pass 2, a message no time"
    )
    words = sentences([start, *map(_described, panels)])
    return Picture(name, data.title, words, partial(_draw, panels=panels))


def _described(panel: Panel) -> str:
    peaks = ", ".join(f"{each:g}" for each in panel.run.peaks())
    return (
        f"{panel.data.name}, {panel.data.note}: each GPU is idle {panel.run.idle:.1%} of the time, and holds the "
        f"activations of at most {peaks} micro-batches, from the first GPU to the last"
    )


def _draw(canvas: Canvas, panels: list[Panel]) -> None:
    scale = (canvas.width - _LEFT - 2) / max(panel.run.end for panel in panels)
    y = _key(canvas)
    for panel in panels:
        y = _panel(canvas, panel, y + 10, scale)


def _key(canvas: Canvas) -> float:
    """Name the fills and return where the key ends."""
    x = 0.0
    for fill, words in _KEY.items():
        canvas.rect(x, 1, (16, 14), "bare", fill=fill)
        canvas.text((x + 22, 12), words, "s m")
        x += 36 + width_of(words, "s")
    words, y = "digit: micro-batch. Empty lane: idle", 32 if canvas.narrow else 12
    canvas.text((0 if canvas.narrow else canvas.width, y), words, "s m", "" if canvas.narrow else "end")
    return y + 8


def _panel(canvas: Canvas, panel: Panel, y: float, scale: float) -> float:
    """Draw one schedule and return where it ends."""
    canvas.text((0, y + 13), panel.data.name, "h1")
    canvas.text((canvas.width, y + 13), f"idle {panel.run.idle:.1%}", "b", "end")
    y = canvas.paragraph((0, y + 29), panel.data.note, canvas.width, "s m") - 6
    count = len(panel.run.orders)
    for rank in range(count):
        canvas.rect(_LEFT, y + rank * _LANE, (panel.run.end * scale, 14), "soft bare")
        canvas.text((_LEFT - 6, y + rank * _LANE + 11), str(rank), "s m", "end")
    for kind, fill in _FILLS.items():
        cells = "".join(_cells(panel.run, kind, rank, y + rank * _LANE, scale) for rank in range(count))
        if cells:
            canvas.thick(cells, fill)
    for rank, order in enumerate(panel.run.orders):
        _digits(canvas, panel.run, order, y + rank * _LANE + 11, scale)
    return _live(canvas, panel.run, y + count * _LANE + 4, scale)


def _cells(run: Run, kind: str, rank: int, y: float, scale: float) -> str:
    """Return the path of a GPU's operations of one kind, each a pixel shorter than it lasts."""
    spans = [run.spans[each] for each in run.orders[rank] if each.kind == kind]
    d, at = f"M{_LEFT} {y + 7:g}", float(_LEFT)
    for start, end in spans:
        x, right = round(_LEFT + start * scale, 1), round(_LEFT + end * scale - 1, 1)
        d, at = f"{d}m{coordinate(x - at)} 0h{coordinate(right - x)}", right
    return d if spans else ""


def _digits(canvas: Canvas, run: Run, order: list[Operation], y: float, scale: float) -> None:
    """Write the number of the micro-batch into each operation that has room for it."""
    spans = {each: run.spans[each] for each in order if (run.spans[each][1] - run.spans[each][0]) * scale >= _DIGIT}
    if spans:
        xs = [round(_LEFT + (start + end) / 2 * scale - 3.5) for start, end in spans.values()]
        canvas.letters(xs, y, "".join(str(each.micro + 1) for each in spans))


def _live(canvas: Canvas, run: Run, y: float, scale: float) -> float:
    """Draw the live activations of the first GPU over time, on one scale for all schedules."""
    peaks = run.peaks()
    floor, before = y + _UNIT * max(peaks) + 2, 0.0
    d = f"M{_LEFT} {coordinate(floor)}"
    for time, held in run.live(0):
        if held != before:
            d += f"H{coordinate(_LEFT + time * scale)}V{coordinate(floor - held * _UNIT)}"
        before = held
    canvas.path(f"{d}V{coordinate(floor)}z", "", "a")
    each = f"{', '.join(f'{peak:g}' for peak in peaks)} on GPU 0 to {len(peaks) - 1}"
    words = f"live micro-batches, at most: {each if len(set(peaks)) > 1 else f'{peaks[0]:g} per GPU'}"
    return canvas.paragraph((_LEFT, floor + 15), words, 0.97 * (canvas.width - _LEFT), "s b") - 9
