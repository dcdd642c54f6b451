"""Draw signed errors as strips: one row per group, one mark per figure, a disc at the median."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import coordinate
from headroom.records.pictures import ErrorStrips

_ROW = 44


def picture(name: str, data: ErrorStrips, groups: Mapping[str, Sequence[float]]) -> Picture:
    """Return the groups with the number, the median and the range of their errors in words.

    Args:
        name: the picture's name.
        data: its title and its axis.
        groups: signed errors in percent by the name of their row.

    Raises:
        LookupError: no error is recorded.
    """
    if not groups:
        raise LookupError("no error of memory estimates is recorded")
    words = sentences(map(_described, groups, groups.values()))
    return Picture(name, data.title, words, partial(_draw, groups=groups, limit=data.limit))


def _described(name: str, errors: Sequence[float]) -> str:
    figures = f"{len(errors)} figure{'s' * (len(errors) > 1)}"
    return f"{name}: {figures}, median {median(errors):+.1f} %, {min(errors):+.1f} to {max(errors):+.1f} %"


def _draw(canvas: Canvas, groups: Mapping[str, Sequence[float]], limit: float) -> None:
    width = canvas.width - 20

    def at(error: float) -> float:
        return 10 + width * (max(-limit, min(limit, error)) + limit) / (2 * limit)

    for row, (name, errors) in enumerate(groups.items()):
        _row(canvas, (name, errors), _ROW * row, at)
    bottom = _ROW * len(groups)
    for tick, side in ((-limit, ""), (-limit / 2, "mid"), (0, "mid"), (limit / 2, "mid"), (limit, "end")):
        words = f"{tick:+g} %" if tick else "0"
        x = {"": 0.0, "end": canvas.width}.get(side, at(tick))
        canvas.text((x, bottom + 14), words, "s m", *([side] if side else []))
    words = (
        "One mark per figure; the disc is the median. Left of 0, an estimate is too low. "
        f"Marks at the edge are at {limit:g} % or beyond."
    )
    canvas.paragraph((0, bottom + 40), words, canvas.width, "s m")


def _row(canvas: Canvas, group: tuple[str, Sequence[float]], y: float, at: Callable[[float], float]) -> None:
    name, errors = group
    canvas.text((0, y + 12), f"{name} · {len(errors)}", "s halo")
    middle = y + 28
    canvas.line((at(0), y + 18), (at(0), y + _ROW - 4), "ln")
    for error in errors:
        canvas.path(f"M{coordinate(at(error))} {coordinate(middle - 5)}v10", "in")
    x = coordinate(at(median(errors)))
    canvas.path(f"M{x} {coordinate(middle)}m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "mark full")
