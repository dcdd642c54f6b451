"""Draw a kind of parallelism from one description: a column per GPU with what it holds, and each message below.

A thing that can be divided has one slot per part: a filled slot is held, a dashed one is on another GPU. A collective
shows the slots before and after it; a digit is the rank that a part comes from.
"""

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

from headroom.pictures import ring_traffic
from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.ring_traffic import ABSENT
from headroom.pictures.svg_style import COMPONENTS
from headroom.pictures.text_width import coordinate, figure, wrap
from headroom.records.parallel_pictures import Parallelism, Transfer

_LABELS: Final = 180.0
_TALL: Final = 18
_TITLES: Final = {"ring": "Send around", "next": "Send on", "previous": "Send back"}


def picture(name: str, data: Parallelism) -> Picture:
    """Return the GPUs with what each holds and sends in words."""
    return Picture(name, data.title, sentences(_described(data)), partial(_draw, data=data))


def _described(data: Parallelism) -> list[str]:
    size = ring_traffic.parts(data)
    held = (f"{each.name}: {'all' if each.held == 'all' else f'1/{size}'}" for each in data.holds)
    moved = [f"{_title(each)}, {each.when}: each GPU {ring_traffic.sent(data, each)}" for each in data.sends]
    return [data.idea, f"Each of {data.gpus} GPUs holds {', '.join(held)}", *_sums(data), *moved]


def _sums(data: Parallelism) -> list[str]:
    """Return the bytes that a GPU holds per parameter, and what it sends in all."""
    size = ring_traffic.bytes_per_parameter(data)
    return [*([f"Each GPU holds {figure(size)} bytes per parameter"] if size else []), *ring_traffic.totals(data)]


def _title(transfer: Transfer) -> str:
    return f"{_TITLES.get(transfer.by, transfer.by.capitalize())}: {transfer.what}"


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns of the GPUs are."""

    left: float
    width: float
    slot: float
    steps: tuple[float, ...]

    @classmethod
    def of(cls, canvas: Canvas, data: Parallelism) -> "Columns":
        """Return the columns of a canvas; groups that divide one copy of the model have a wider gap between them."""
        size = ring_traffic.parts(data)
        gaps = [(24.0 if rank % size == 0 else 8.0) if rank else 0.0 for rank in range(data.gpus)]
        left = 0.0 if canvas.narrow else _LABELS
        width = (canvas.width - 2 - left - sum(gaps)) / data.gpus
        steps = tuple(1 + left + rank * width + sum(gaps[: rank + 1]) for rank in range(data.gpus))
        return cls(left, width, min((width - 10) / size, 20), steps)

    def middle(self, rank: int) -> float:
        """Return the middle of a GPU's column."""
        return self.steps[rank] + self.width / 2


def _draw(canvas: Canvas, data: Parallelism) -> None:
    columns = Columns.of(canvas, data)
    y = canvas.paragraph((0, 13), data.idea, canvas.width, "", 16)
    y = _held(canvas, data, columns, y)
    for transfer in data.sends:
        y = _transfer(canvas, data, transfer, columns, y + 16)
    y += 20
    for words in _sums(data):
        y = canvas.paragraph((0, y), words, 0.97 * canvas.width, "b", 16)
    words = "Filled: on this GPU. Dashed: on another one."
    marked = any(each.by not in _TITLES for each in data.sends)
    digits = f" A digit is the GPU that a part comes from{f', {ring_traffic.SUM} a sum' if _adds(data) else ''}."
    canvas.paragraph((0, y + 2), words + (digits if marked else ""), canvas.width, "s m")


def _adds(data: Parallelism) -> bool:
    return any(each.by in ("all-reduce", "reduce-scatter") for each in data.sends)


def _held(canvas: Canvas, data: Parallelism, columns: Columns, y: float) -> float:
    """Draw the GPUs with what they hold, and return where they end."""
    row = 38 if canvas.narrow else 25
    bottom = y + 22 + row * len(data.holds) + 4
    for rank, left in enumerate(columns.steps):
        canvas.rect(left, y, (columns.width, bottom - y), "soft")
        canvas.text((columns.middle(rank), y + 15), f"GPU {rank}", "b", "mid")
    for number, holding in enumerate(data.holds):
        top = y + 23 + number * row
        canvas.text((6, top + 10) if canvas.narrow else (0, top + 14), holding.name, "s halo" if canvas.narrow else "")
        rows = [ring_traffic.held(data, holding, rank) for rank in range(data.gpus)]
        _slots(canvas, columns, COMPONENTS[holding.fill], rows, top + (15 if canvas.narrow else 1))
    return bottom


def _slots(canvas: Canvas, columns: Columns, fill: str, rows: list[str], y: float, *, marked: bool = False) -> None:
    """Draw the slots of all GPUs: held ones as one path, absent ones as another, marks as one text."""
    paths, marks, size = {True: "", False: ""}, list[tuple[float, str]](), columns.slot
    for rank, row in enumerate(rows):
        left = columns.middle(rank) - size * len(row) / 2
        start = 0
        for here, run in groupby(row, key=lambda mark: mark != ABSENT):
            count = len(list(run))
            paths[here] += _cells(left + start * size, y, size, count)
            start += count
        marks += [(left + (i + 0.5) * size - 3.5, mark) for i, mark in enumerate(row) if mark != ABSENT]
    for here, d in paths.items():
        if d:
            canvas.path(d, "" if here else "none", fill if here else "")
    if marked:
        canvas.letters([x for x, _ in marks], y + 13, "".join(mark for _, mark in marks), "s b halo")
    canvas.height = max(canvas.height, y + _TALL)


def _cells(x: float, y: float, size: float, count: int) -> str:
    """Return the path of adjacent slots."""
    w = coordinate(size * count)
    lines = "".join(f"M{coordinate(x + size * i)} {coordinate(y)}v{_TALL}" for i in range(1, count))
    return f"M{coordinate(x)} {coordinate(y)}h{w}v{_TALL}h-{w}z{lines}"


def _transfer(canvas: Canvas, data: Parallelism, transfer: Transfer, columns: Columns, y: float) -> float:
    """Draw one message with its name, its moment and its size, and return where it ends."""
    width = canvas.width if canvas.narrow else columns.left - 12
    at = y + 13
    for words, cls in ((_title(transfer), "b"), (transfer.when, "s m"), (ring_traffic.sent(data, transfer), "s m")):
        for line in wrap(words, width, cls):
            canvas.text((0, at), line, cls)
            at += 15
    top = at - 5 if canvas.narrow else y + 3
    end = (_neighbours if transfer.by in _TITLES else _collective)(canvas, data, transfer, columns, top)
    return max(end, at - 11)


def _collective(canvas: Canvas, data: Parallelism, transfer: Transfer, columns: Columns, y: float) -> float:
    """Draw the slots before, a thick bar per group, and the slots after; a crossing interrupts the bar."""
    found = ring_traffic.groups(data, transfer)
    crossed = transfer.among == "copies"
    low = y + 44 + (10 if crossed else 0)
    for number, group in enumerate(found):
        bar = y + 32 + (10 * number if crossed else 0)
        canvas.line((columns.middle(group[0]), bar), (columns.middle(group[-1]), bar), "ln thick")
        for x in map(columns.middle, group):
            if crossed and number:
                canvas.line((x, y + 22), (x, bar - 4), "gap")
            canvas.line((x, y + _TALL + 1), (x, bar))
            canvas.arrow((x, bar), (x, low))
    before, after = zip(*(ring_traffic.slots(data, transfer, rank) for rank in range(data.gpus)), strict=True)
    _slots(canvas, columns, COMPONENTS[transfer.fill], list(before), y, marked=True)
    _slots(canvas, columns, COMPONENTS[transfer.fill], list(after), low + 2, marked=True)
    return low + 2 + _TALL


def _neighbours(canvas: Canvas, data: Parallelism, transfer: Transfer, columns: Columns, y: float) -> float:
    """Draw a block per GPU and arrows to the neighbours that get it."""
    half = columns.slot
    for rank in range(data.gpus):
        x = columns.middle(rank)
        canvas.rect(x - half, y, (2 * half, 20), fill=COMPONENTS[transfer.fill])
        canvas.text((x, y + 14), str(rank), "s b halo", "mid")
        if rank:
            ends = (columns.middle(rank - 1) + half + 2, y + 10), (x - half - 2, y + 10)
            canvas.arrow(*(ends if transfer.by != "previous" else ends[::-1]))
    if transfer.by != "ring":
        return y + 20
    first, last = columns.middle(0), columns.middle(data.gpus - 1)
    canvas.path(f"M{coordinate(last)} {coordinate(y + 22)}v12H{coordinate(first)}", "ln")
    canvas.arrow((first, y + 34), (first, y + 21))
    return y + 36
