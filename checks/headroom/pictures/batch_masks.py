"""Draw sequences padded, flattened and packed, each row with its attention mask, all computed from the lengths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.text_width import coordinate
from headroom.records.pictures import BatchLayouts

_FILLS = ("a", "o", "g", "w")
Row = tuple[int, ...]
"""The number of the sequence of each token; -1 is padding."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One way to lay out the sequences."""

    name: str
    note: str
    rows: tuple[Row, ...]
    mask: str
    """`padded`: everything is computed; `blocked`: sequences are apart; `causal`: they are not."""

    def cell(self, row: Row, query: int, key: int) -> str:
        """Return what a score is: `own`, `wrong` (of another sequence), `waste` (padding) or nothing."""
        own = key <= query and row[query] == row[key] >= 0
        if self.mask == "padded":
            return "own" if own else "waste"
        if own or key > query or -1 in (row[query], row[key]):
            return "own" if own else ""
        return "wrong" if self.mask == "causal" else ""

    def count(self, kind: str) -> int:
        """Return how many scores of a kind all masks have."""
        return sum(self.cell(row, q, k) == kind for row in self.rows for q in range(len(row)) for k in range(len(row)))

    def says(self) -> str:
        """Return the tokens, the slots and the scores in words."""
        tokens = sum(number >= 0 for row in self.rows for number in row)
        wasted, wrong = self.count("waste"), self.count("wrong")
        found = f"{wrong} scores between sequences" if wrong else f"{wasted or 'no'} scores wasted"
        return f"{tokens} tokens in {sum(map(len, self.rows))} slots, {found}"


def picture(name: str, data: BatchLayouts) -> Picture:
    """Return the layouts with what each wastes in words."""
    batches = _batches(data.lengths, data.row)
    words = (f"{each.name}: {each.note}; {each.says()}" for each in batches)
    return Picture(name, data.title, sentences(words), partial(_draw, batches=batches))


def _batches(lengths: Sequence[int], size: int) -> tuple[Batch, ...]:
    padded = tuple((i,) * n + (-1,) * (max(lengths) - n) for i, n in enumerate(lengths))
    flat = (tuple(i for i, n in enumerate(lengths) for _ in range(n)),)
    packed = _packed(lengths, size)
    return (
        Batch("Padded", "one row per sequence, as long as the longest", padded, "padded"),
        Batch("Flattened (padding-free)", "one row, cut by position_ids or cu_seqlens", flat, "blocked"),
        Batch("Packed", f"rows of {size} tokens, each sequence masked on its own", packed, "blocked"),
        Batch("Packed, plain causal mask", "a silent error: sequences attend to each other", packed, "causal"),
    )


def _packed(lengths: Sequence[int], size: int) -> tuple[Row, ...]:
    """Fill rows of a fixed length, the longest sequence first, each into the fullest row with room (best fit)."""
    rows: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        room = [row for row in rows if len(row) + lengths[i] <= size]
        if not room:
            rows.append([])
        (max(room, key=len) if room else rows[-1]).extend([i] * lengths[i])
    return tuple((*row, *[-1] * (size - len(row))) for row in rows)


def _draw(canvas: Canvas, batches: Sequence[Batch]) -> None:
    """Draw the layouts below each other on a phone, two by two in a column."""
    columns = 1 if canvas.narrow else 2
    width = (canvas.width - 40 * (columns - 1)) / columns
    y = 0.0
    for index, batch in enumerate(batches):
        if index and index % columns == 0:
            y = canvas.height + 20
        _batch(canvas, batch, ((index % columns) * (width + 40), y), width)
    _key(canvas, canvas.height + 20)


def _batch(canvas: Canvas, batch: Batch, at: tuple[float, float], width: float) -> None:
    x, y = at
    canvas.text((x, y + 13), batch.name, "h1" if batch.mask != "causal" else "h1 red")
    y = canvas.paragraph((x, y + 30), batch.note, width, "s m")
    y = canvas.paragraph((x, y + 1), batch.says(), width, "s b") - 4
    for row in batch.rows:
        _strip(canvas, row, x, y)
        y += 18
    size = 10 if len(batch.rows) > 2 else 12  # noqa: PLR2004 - they must fit next to each other
    for row in batch.rows:
        _mask(canvas, batch, row, (x, y + 8, size))
        x += len(row) * size + 12


def _strip(canvas: Canvas, row: Row, x: float, y: float) -> None:
    """Draw the tokens of a row with the numbers of their sequences."""
    for number in dict.fromkeys(row):
        cells = "".join(_square(x + i * 14, y, 14, 14) for i, each in enumerate(row) if each == number)
        canvas.path(cells, "" if number >= 0 else "none", _FILLS[number] if number >= 0 else "")
    for i, number in enumerate(row):
        if number >= 0:
            canvas.text((x + i * 14 + 7, y + 11), str(number + 1), "s halo b", "mid")


def _square(x: float, y: float, w: float, h: float) -> str:
    return f"M{coordinate(x)} {coordinate(y)}h{coordinate(w)}v{coordinate(h)}h{coordinate(-w)}z"


def _mask(canvas: Canvas, batch: Batch, row: Row, place: tuple[float, float, float]) -> None:
    """Draw a mask: one path per fill, one rectangle per run of equal cells."""
    x, y, size = place
    side = size * len(row)
    canvas.rect(x, y, (side, side), "soft")
    drawn: dict[str, str] = {}
    for q in range(len(row)):
        for kind, start, length in _runs([batch.cell(row, q, k) for k in range(len(row))]):
            if fill := {"own": _FILLS[row[q]], "waste": "x", "wrong": "bad"}.get(kind):
                cells = _square(x + start * size, y + q * size, length * size, size)
                drawn[fill] = drawn.get(fill, "") + cells
    for fill, cells in drawn.items():
        canvas.path(cells, "bare", fill)
    canvas.path(_square(x, y, side, side), "mu")


def _runs(kinds: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each run of equal cells with its start and its length."""
    starts = [i for i, kind in enumerate(kinds) if i == 0 or kinds[i - 1] != kind]
    for start, end in zip(starts, [*starts[1:], len(kinds)], strict=True):
        yield kinds[start], start, end - start


def _key(canvas: Canvas, y: float) -> None:
    """Explain the two fills without a number."""
    for index, (fill, words) in enumerate((("x", "computed, then masked"), ("bad", "attends to another sequence"))):
        x, line = (0, y + index * 20) if canvas.narrow else (index * 200, y)
        canvas.rect(x, line, (13, 13), fill=fill)
        canvas.text((x + 20, line + 11), words, "s m")
    words = "Masks: one query token per line, one key token per column. Blank: not computed."
    canvas.paragraph((0, canvas.height + 20), words, canvas.width, "s m")
