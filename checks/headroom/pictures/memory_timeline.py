"""Draw the memory of a recorded training step as stacked areas over time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from headroom.pictures.canvas import Canvas, Picture, Point, polyline, sentences
from headroom.pictures.printed_rows import rows_of
from headroom.pictures.svg_style import TRAINING
from headroom.pictures.text_width import coordinate, figure, width_of
from headroom.records.pictures import Timeline

Place = Callable[[float, float], Point]


@dataclass(frozen=True, slots=True)
class Sample:
    """What is allocated at one moment: milliseconds, the phase, and the upper edge of each component."""

    ms: float
    phase: str
    edges: tuple[float, ...]

    @property
    def total(self) -> float:
        """All that is allocated."""
        return self.edges[-1]


Step = tuple[str, Sequence[Sample]]


def picture(name: str, data: Timeline, output: str) -> Picture:
    """Return the areas with the components at each peak in words."""
    steps = [(panel.title, [_sample(row) for row in rows_of(output, panel.rows)]) for panel in data.panels]
    words = [_described(title, samples, data.unit) for title, samples in steps]
    more = [data.note] if data.note else []
    return Picture(name, data.title, sentences([*words, *more]), lambda canvas: _draw(canvas, steps, data))


def _sample(row: Sequence[str]) -> Sample:
    ms, phase, *sizes = row
    if len(sizes) != len(TRAINING):
        raise ValueError(f"a row has {len(sizes)} sizes instead of {len(TRAINING)}; record the snippet again")
    return Sample(float(ms), phase, tuple(accumulate(map(float, sizes), initial=0.0)))


def _described(title: str, samples: Sequence[Sample], unit: str) -> str:
    peak = max(samples, key=lambda each: each.total)
    parts = (f"{name} {figure(b - a)}" for name, (a, b) in zip(TRAINING, pairwise(peak.edges), strict=True) if b > a)
    return f"{title}: the peak is {figure(peak.total)} {unit}, in {peak.phase}: {', '.join(parts)}"


def _draw(canvas: Canvas, steps: Sequence[Step], data: Timeline) -> None:
    """Draw one panel per step: below each other on a phone, next to each other in a column."""
    columns = 1 if canvas.narrow else 2
    width = (canvas.width - 26 - 16 * (columns - 1)) / columns
    ms = max(samples[-1].ms for _, samples in steps)
    most = max(sample.total for _, samples in steps for sample in samples) * 1.1
    y = 0.0
    for index, (title, samples) in enumerate(steps):
        x = 26 if canvas.narrow else 26 + index * (width + 16)
        canvas.text((0 if x == 26 else x, y + 13), title, "h1")  # noqa: PLR2004 - the first column
        height = 200.0 * (max(each.total for each in samples) * 1.1 / most if canvas.narrow else 1)
        _panel(canvas, samples, (x, y + 40, width, height), (ms, most * height / 200), data.unit)
        y = canvas.height + 14 if canvas.narrow else 0
    if data.note:
        canvas.paragraph((0, canvas.height + 18), data.note, canvas.width, "s m")


def _panel(
    canvas: Canvas,
    samples: Sequence[Sample],
    box: tuple[float, float, float, float],
    ends: tuple[float, float],
    unit: str,
) -> None:
    x, y, width, height = box

    def at(ms: float, size: float) -> Point:
        return x + ms / ends[0] * width, y + height - size / ends[1] * height

    for size in range(0, int(ends[1]) + 1, 10):
        canvas.line(at(0, size), at(ends[0], size), "tk")
        canvas.text((x - 5, at(0, size)[1] + 4), str(size), "s m", "end")
    canvas.text((x - 26 if x == 26 else x, y - 8), unit, "s m")  # noqa: PLR2004 - the first column
    for rank, fill in reversed(list(enumerate(TRAINING.values(), 1))):
        _area(canvas, [at(each.ms, each.edges[rank]) for each in samples], y + height, fill)
    _names(canvas, samples, at)
    _peak(canvas, samples, at, (x + width, unit))
    _phases(canvas, samples, at, y + height)


def _area(canvas: Canvas, edge: list[Point], bottom: float, fill: str) -> None:
    """Draw everything below an edge; the components beneath are drawn over it."""
    canvas.path(polyline([(edge[0][0], bottom), *edge, (edge[-1][0], bottom)]) + "z", "", fill)


def _names(canvas: Canvas, samples: Sequence[Sample], at: Place) -> None:
    """Name each component where it is thickest, if a line of text fits there."""
    left, right = at(0, 0)[0], at(samples[-1].ms, 0)[0]
    for rank, name in enumerate(TRAINING):
        thick = _thickest(samples, rank)
        (px, low), (_, high) = at(thick.ms, thick.edges[rank]), at(thick.ms, thick.edges[rank + 1])
        if low - high >= 13:  # noqa: PLR2004 - a line of text
            half = width_of(name, "s") / 2
            canvas.text((min(max(px, left + half + 4), right - half - 4), (low + high) / 2 + 4), name, "s halo", "mid")


def _thickest(samples: Sequence[Sample], rank: int) -> Sample:
    """Return the middle one of the moments at which a component is nearly at its largest."""
    most = max(each.edges[rank + 1] - each.edges[rank] for each in samples)
    near = [each for each in samples if each.edges[rank + 1] - each.edges[rank] >= 0.8 * most]
    return near[len(near) // 2]


def _peak(canvas: Canvas, samples: Sequence[Sample], at: Place, ends: tuple[float, str]) -> None:
    peak = max(samples, key=lambda each: each.total)
    px, py = at(peak.ms, peak.total)
    words = f"peak {figure(peak.total)} {ends[1]}"
    canvas.path(f"M{coordinate(px)} {coordinate(py)}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0", "head")
    flip = px + width_of(words, "b") + 10 > ends[0]
    canvas.text((px - 8 if flip else px + 8, py - 4), words, "b halo", "end" if flip else "")


def _phases(canvas: Canvas, samples: Sequence[Sample], at: Place, bottom: float) -> None:
    """Mark forward, backward and the optimizer step below the axis."""
    begin = 0.0
    for index, (a, b) in enumerate(pairwise([*samples, None])):
        if a and (b is None or a.phase != b.phase):
            (x1, _), (x2, _) = at(begin, 0), at(samples[index].ms, 0)
            canvas.path(f"M{coordinate(x1 + 1)} {coordinate(bottom + 3)}v5H{coordinate(x2 - 1)}v-5", "mu")
            small = x2 - x1 < width_of(a.phase, "s")
            place = (x2, bottom + 34) if small else ((x1 + x2) / 2, bottom + 20)
            canvas.text(place, a.phase, "s m", "end" if small else "mid")
            begin = a.ms
