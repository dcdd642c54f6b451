"""Draw the causal attention scores that each GPU computes when a sequence is divided over GPUs."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import coordinate
from headroom.records.parallel_pictures import CausalBalance, Split

_GAP: Final = 12.0
_TALL: Final = 14


def chunks(order: str, gpus: int) -> list[tuple[int, int]]:
    """Return the two chunks of each GPU, out of two per GPU: neighbours, or one from each end."""
    if order == "contiguous":
        return [(2 * rank, 2 * rank + 1) for rank in range(gpus)]
    return [(rank, 2 * gpus - 1 - rank) for rank in range(gpus)]


def work(queries: Sequence[int]) -> float:
    """Return the scores of chunks of queries, in blocks of chunk by chunk; the block on the diagonal is half of one."""
    return sum(chunk + 0.5 for chunk in queries)


def picture(name: str, data: CausalBalance) -> Picture:
    """Return the splits with the work of each GPU in words."""
    start = f"Each GPU has 2 of {2 * data.gpus} chunks of the queries and needs the keys of all earlier chunks"
    words = sentences([start, *(f"{each.name}: {each.note} {_says(each, data.gpus)}" for each in data.splits)])
    return Picture(name, data.title, words, partial(_draw, data=data))


def _works(split: Split, gpus: int) -> list[float]:
    return [work(queries) for queries in chunks(split.order, gpus)]


def _says(split: Split, gpus: int) -> str:
    found = _works(split, gpus)
    waits = 1 - sum(found) / len(found) / max(found)
    return f"{', '.join(f'{each:g}' for each in found)} blocks per GPU; a GPU waits {waits:.0%} of attention on average"


def _draw(canvas: Canvas, data: CausalBalance) -> None:
    y = 0.0
    for split in data.splits:
        canvas.text((0, y + 13), split.name, "h1")
        y = canvas.paragraph((0, y + 29), split.note, canvas.width, "s m")
        y = canvas.paragraph((0, y + 1), _says(split, data.gpus), 0.97 * canvas.width, "b", 16) - 6
        y = _split(canvas, split, data.gpus, y) + 20
    words = "A line is a chunk of queries, a column a chunk of keys. Filled: computed. Dashed: masked, not computed."
    canvas.paragraph((0, y), words, canvas.width, "s m")


def _split(canvas: Canvas, split: Split, gpus: int, y: float) -> float:
    """Draw the rows of each GPU in a column of its own, and return where they end."""
    width = (canvas.width - 2 - _GAP * (gpus - 1)) / gpus
    size = min((width - 12) / (2 * gpus), 16)
    for rank, queries in enumerate(chunks(split.order, gpus)):
        left = 1 + rank * (width + _GAP)
        canvas.text((left + width / 2, y + 12), f"GPU {rank}", "b", "mid")
        for line, chunk in enumerate(queries):
            top = y + 20 + line * (_TALL + 4)
            canvas.text((left, top + 11), str(chunk), "s m")
            _row(canvas, (left + 12, top, size), chunk, 2 * gpus)
    return y + 20 + 2 * (_TALL + 4)


def _row(canvas: Canvas, place: tuple[float, float, float], chunk: int, count: int) -> None:
    """Draw a chunk of queries: earlier keys whole, its own as a triangle, later ones absent."""
    x, y, size = place
    left, top, edge = coordinate(x), coordinate(y), coordinate(x + chunk * size)
    canvas.path(f"M{left} {top}h{coordinate(size * count)}v{_TALL}h-{coordinate(size * count)}z", "none")
    whole = f"M{left} {top}h{coordinate(chunk * size)}v{_TALL}h-{coordinate(chunk * size)}z" if chunk else ""
    canvas.path(f"{whole}M{edge} {top}v{_TALL}h{coordinate(size)}z", "", "a")
    canvas.height = max(canvas.height, y + _TALL)
