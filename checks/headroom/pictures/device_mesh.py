"""Draw GPUs in nodes, and the group of each axis of a mesh that GPU 0 belongs to."""

from functools import partial
from math import prod
from typing import Final

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import coordinate
from headroom.records.parallel_pictures import DeviceMesh, MeshAxis

_GAP: Final = 14.0
_CELL: Final = 22.0
_PER_ROW: Final = 4


def ranks(data: DeviceMesh, number: int) -> list[int]:
    """Return the group of GPU 0 on an axis, counted from the outermost one."""
    stride = prod(axis.size for axis in data.axes[number + 1 :])
    return [stride * place for place in range(data.axes[number].size)]


def picture(name: str, data: DeviceMesh) -> Picture:
    """Return the mesh with the group of each axis in words.

    Raises:
        ValueError: the nodes of a row do not fit the drawing.
    """
    if data.axes[-2].size > _PER_ROW:
        raise ValueError(f"`{data.axes[-2].name}` has {data.axes[-2].size} nodes in a row; draw at most {_PER_ROW}")
    total, nodes = prod(axis.size for axis in data.axes), prod(axis.size for axis in data.axes[:-1])
    start = f"{total} GPUs in {nodes} nodes of {data.gpus_per_node}"
    words = sentences([start, *(_described(data, number) for number in range(len(data.axes)))])
    return Picture(name, data.title, words, partial(_draw, data=data))


def _described(data: DeviceMesh, number: int) -> str:
    axis = data.axes[number]
    return f"{axis.name}, {axis.size} GPUs: {axis.says} GPU 0 is in a group with {_listed(ranks(data, number)[1:])}"


def _listed(found: list[int]) -> str:
    """Return ranks in words; neighbours as a range."""
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:  # noqa: PLR2004 - shorter than a list
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found))


def _draw(canvas: Canvas, data: DeviceMesh) -> None:
    rows = prod(axis.size for axis in data.axes[:-2])
    columns = data.axes[-2].size
    left = 30.0 if rows > 1 else 0.0
    width = (canvas.width - 2 - left - _GAP * (columns - 1)) / columns
    head, lines = _sizes(canvas)
    tall = head + lines * _CELL + 20
    step = tall + 44
    for row in range(rows):
        for column in range(columns):
            _node(canvas, data, row * columns + column, (1 + left + column * (width + _GAP), row * step, width))
        middles = [1 + left + column * (width + _GAP) for column in range(columns)]
        _across(canvas, data.axes[-2], (middles, width, row * step + tall))
    if rows > 1:
        _between(canvas, data.axes[0], (rows, step, tall, left))
    y = (rows - 1) * step + tall + 44
    for number, axis in enumerate(data.axes):
        y = _key(canvas, axis, _listed(ranks(data, number)), y)


def _sizes(canvas: Canvas) -> tuple[float, int]:
    """Return the height of a node's title and in how many lines its GPUs are; a phone has no room for their numbers."""
    return (34.0, 2) if canvas.narrow else (20.0, 1)


def _node(canvas: Canvas, data: DeviceMesh, node: int, place: tuple[float, float, float]) -> None:
    """Draw a node with its GPUs, and the bar that all of them share."""
    x, y, width = place
    head, lines = _sizes(canvas)
    per_line = data.gpus_per_node // lines
    cell = (width - 8) / per_line
    canvas.rect(x, y, (width, head + lines * _CELL + 20), "soft")
    first = node * data.gpus_per_node
    canvas.text((x + width / 2, y + 14), f"node {node}", "s b", "mid")
    if canvas.narrow:
        canvas.text((x + width / 2, y + 28), f"{first} to {first + data.gpus_per_node - 1}", "s m", "mid")
    places = [(x + 4 + gpu % per_line * cell, y + head + gpu // per_line * _CELL) for gpu in range(data.gpus_per_node)]
    sides = f"h{coordinate(cell - 2)}v{_CELL - 4:g}h-{coordinate(cell - 2)}z"
    canvas.path("".join(f"M{coordinate(left)} {coordinate(top)}{sides}" for left, top in places), "", "w")
    for gpu, (left, top) in enumerate([] if canvas.narrow else places):
        canvas.text((left + cell / 2 - 1, top + 13), str(first + gpu), "s halo", "mid")
    bar = y + head + lines * _CELL + 8
    canvas.line((x + 6, bar), (x + width - 6, bar), "tl thick")
    canvas.text((x + width / 2, bar + 4), data.axes[-1].name, "s b halo", "mid")


def _across(canvas: Canvas, axis: MeshAxis, place: tuple[list[float], float, float]) -> None:
    """Draw the bar of the axis that joins the nodes of a row."""
    lefts, width, y = place
    bar = y + 16
    for x in lefts:
        canvas.line((x + width / 2, y), (x + width / 2, bar))
    canvas.line((lefts[0] + width / 2, bar), (lefts[-1] + width / 2, bar), "ln thick")
    middle = (lefts[0] + lefts[-1] + width) / 2
    canvas.text((middle, bar + 16), axis.name, "s b halo", "mid")


def _between(canvas: Canvas, axis: MeshAxis, place: tuple[int, float, float, float]) -> None:
    """Draw the axis between the rows, at the left: arrows for messages, a bar for collectives."""
    rows, step, tall, left = place
    x = left / 2
    for row in range(rows):
        y = row * step + tall / 2
        canvas.line((x, y), (left + 1, y))
        if row and axis.sends == "messages":
            canvas.arrow((x, y - step), (x, y))
    if axis.sends == "collective":
        canvas.line((x, tall / 2), (x, (rows - 1) * step + tall / 2), "ln thick")
    canvas.text((x, tall + 26), axis.name, "s b halo", "mid")


def _key(canvas: Canvas, axis: MeshAxis, group: str, y: float) -> float:
    """Name an axis, what it divides, and the group of GPU 0; return where the next one begins."""
    title = f"{axis.name}, {axis.size} GPUs: {group}"
    y = canvas.paragraph((0, y + 14), title, canvas.width, "b", 16)
    return canvas.paragraph((0, y - 1), axis.says, canvas.width, "s m") - 6
