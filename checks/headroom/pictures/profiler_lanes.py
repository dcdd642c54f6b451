"""Draw recorded profiler traces as lanes over time: what each part of the machine does, and when it waits."""

from collections.abc import Sequence

from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.printed_rows import rows_of
from headroom.pictures.text_width import figure, width_of
from headroom.records.pictures import Lane, Trace, Traces

_TALL = 20
_LEFT = {True: 74, False: 112}
Span = tuple[float, float]


def picture(name: str, data: Traces, output: str) -> Picture:
    """Return the traces with the busy share of each lane in words."""
    read = {
        (trace.rows, lane.rows): [_span(row) for row in rows_of(output, f"{trace.rows} {lane.rows}")]
        for trace in data.traces
        for lane in data.lanes
    }
    spans = {key: [span for span in found if span[1] > span[0]] for key, found in read.items()}
    words = [_described(trace, data.lanes, spans) for trace in data.traces]
    more = [data.note] if data.note else []
    return Picture(name, data.title, sentences([*words, *more]), lambda canvas: _draw(canvas, data, spans))


def _span(row: Sequence[str]) -> Span:
    """Return the start and the end of a stretch in milliseconds; a row `-` is an empty one."""
    return (float(row[0]), float(row[1])) if len(row) > 1 else (0.0, 0.0)


def _end(trace: Trace, spans: dict[tuple[str, str], list[Span]]) -> float:
    return max(end for (rows, _), found in spans.items() if rows == trace.rows for _, end in found)


def _described(trace: Trace, lanes: Sequence[Lane], spans: dict[tuple[str, str], list[Span]]) -> str:
    whole = _end(trace, spans)
    shares = ", ".join(f"{lane.name} {_share(spans[trace.rows, lane.rows], whole):.0%}" for lane in lanes)
    return f"{trace.title}: {trace.says} Busy share of the time: {shares}"


def _share(spans: Sequence[Span], whole: float) -> float:
    return sum(end - start for start, end in spans) / whole


def _draw(canvas: Canvas, data: Traces, spans: dict[tuple[str, str], list[Span]]) -> None:
    y = 0.0
    for trace in data.traces:
        y = _trace(canvas, trace, data.lanes, spans, y) + 20
    if data.note:
        canvas.paragraph((0, y), data.note, canvas.width, "s m")


def _trace(
    canvas: Canvas, trace: Trace, lanes: Sequence[Lane], spans: dict[tuple[str, str], list[Span]], y: float
) -> float:
    """Draw the lanes of one trace, each over its whole time, and return where they end."""
    canvas.text((0, y + 13), trace.title, "h1")
    y = canvas.paragraph((0, y + 30), trace.says, canvas.width, "s m") - 6
    left, whole = _LEFT[canvas.narrow], _end(trace, spans)
    scale = (canvas.width - left - 40) / whole
    for lane in lanes:
        found = spans[trace.rows, lane.rows]
        canvas.text((0, y + 14), lane.name, "s")
        canvas.rect(left, y, (whole * scale, _TALL), "soft")
        for start, end in found:
            canvas.rect(left + start * scale, y, (max((end - start) * scale, 0.6), _TALL), fill=lane.fill)
        canvas.text((canvas.width, y + 14), f"{_share(found, whole):.0%}", "s b", "end")
        y += _TALL + 4
    words = f"{figure(whole)} ms"
    canvas.path(f"M{left} {y + 2:.1f}v5H{left + whole * scale - 1:.1f}v-5", "mu")
    canvas.text((left + whole * scale - width_of(words, "s"), y + 20), words, "s m")
    return y + 20
