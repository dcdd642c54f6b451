"""Draw one step of DDP or FSDP over time: messages, compute, and for FSDP how many layers are unsharded."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from headroom.pages.calculations import Source
from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.formulas import Formulas
from headroom.pictures.text_width import coordinate, figure, width_of
from headroom.records.parallel_pictures import StepTimeline

Kind = Literal["gather", "forward", "backward", "reduce"]
Strategy = Literal["ddp", "fsdp"]
_FILLS: Final[dict[Kind, str]] = {"gather": "w", "forward": "f", "backward": "b", "reduce": "g"}
_COMPUTE: Final = ("forward", "backward")
_LANES: Final[dict[Strategy, dict[str, tuple[Kind, ...]]]] = {
    "ddp": {"compute": _COMPUTE, "all-reduce": ("reduce",)},
    "fsdp": {"all-gather": ("gather",), "compute": _COMPUTE, "reduce-scatter": ("reduce",)},
}
_LABELS: Final = 104.0
_UNIT: Final = 9


@dataclass(frozen=True, slots=True)
class Span:
    """One message or one pass through a layer."""

    kind: Kind
    layer: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one layer: its two messages and its two passes."""

    gather: float
    reduce: float
    forward: float
    backward: float


@dataclass(slots=True)
class Step:
    """A step in progress. All messages share one link."""

    times: Times
    spans: list[Span] = field(default_factory=list)
    link: float = 0.0
    compute: float = 0.0
    ready: float = 0.0

    def send(self, kind: Literal["gather", "reduce"], layer: int, after: float) -> None:
        """Send a message as soon as the link is free."""
        start = max(self.link, after)
        self.link = start + (self.times.gather if kind == "gather" else self.times.reduce)
        self.spans.append(Span(kind, layer, start, self.link))
        self.ready = self.link if kind == "gather" else self.ready

    def run(self, kind: Literal["forward", "backward"], layer: int, following: int | None = None) -> None:
        """Run a layer once it is gathered, and gather the following one at the same time."""
        start = max(self.compute, self.ready)
        self.compute = start + (self.times.forward if kind == "forward" else self.times.backward)
        self.spans.append(Span(kind, layer, start, self.compute))
        if following is not None:
            self.send("gather", following, start)


def simulate(strategy: Strategy, times: Times, layers: int) -> list[Span]:
    """Return the messages and passes of one step."""
    return (_ddp if strategy == "ddp" else _fsdp)(Step(times), layers).spans


def _ddp(step: Step, layers: int) -> Step:
    """Reduce the gradients of each layer while the layers before it run backward."""
    for layer in range(layers):
        step.run("forward", layer)
    for layer in reversed(range(layers)):
        step.run("backward", layer)
        step.send("reduce", layer, step.compute)
    return step


def _fsdp(step: Step, layers: int) -> Step:
    """Gather each layer while the one before it runs, in both passes, and reduce its gradients as DDP does."""
    step.send("gather", 0, 0)
    for layer in range(layers):
        step.run("forward", layer, layer + 1 if layer + 1 < layers else None)
    step.send("gather", layers - 1, step.compute)
    for layer in reversed(range(layers)):
        step.run("backward", layer, layer - 1 if layer else None)
        step.send("reduce", layer, step.compute)
    return step


def waiting(spans: list[Span]) -> float:
    """Return the share of the step in which the GPU computes nothing."""
    busy = sum(span.end - span.start for span in spans if span.kind in _COMPUTE)
    return 1 - busy / length(spans)


def length(spans: list[Span]) -> float:
    """Return the seconds of the step."""
    return max(span.end for span in spans)


def unsharded(spans: list[Span]) -> list[tuple[float, int]]:
    """Return when the number of whole layers changes: from the start of a gather to the end of the pass."""
    changes = [(span.start, 1) for span in spans if span.kind == "gather"]
    changes += [(span.end, -1) for span in spans if span.kind in _COMPUTE]
    held, steps = 0, dict[float, int]()
    for time, change in sorted(changes):
        held += change
        steps[time] = held
    return list(steps.items())


def picture(name: str, data: StepTimeline, source: Source) -> Picture:
    """Return the steps with their length and their waiting in words."""
    panels = {title: simulate(data.strategy, _times(data, title, source), data.layers) for title in data.panels}
    words = [_described(title, spans, data) for title, spans in panels.items()]
    description = sentences([*words, *([data.note] if data.note else [])])
    return Picture(name, data.title, description, partial(_draw, panels=panels, data=data))


def _times(data: StepTimeline, title: str, source: Source) -> Times:
    formulas = Formulas({**data.let, **data.panels[title]}, source)
    return Times(*(formulas.value(each) for each in (data.gather, data.reduce, data.forward, data.backward)))


def _described(title: str, spans: list[Span], data: StepTimeline) -> str:
    found = f"{title}: {_says(spans)}"
    if data.strategy == "ddp":
        return found
    most = max(held for _, held in unsharded(spans))
    return f"{found}; at most {most} of {data.layers} layers are unsharded at the same time"


def _says(spans: list[Span]) -> str:
    return f"{figure(length(spans) * 1e3)} ms, the GPU waits {waiting(spans):.0%} of it"


def _draw(canvas: Canvas, panels: dict[str, list[Span]], data: StepTimeline) -> None:
    """Draw the panels below each other; each has its own time axis."""
    y = 0.0
    for title, spans in panels.items():
        y = _panel(canvas, (title, data.strategy), spans, y) + 22
    words = f"A digit is the layer. Each panel has its own time axis. {data.note or ''}".strip()
    canvas.paragraph((0, y), words, canvas.width, "s m")


def _panel(canvas: Canvas, named: tuple[str, Strategy], spans: list[Span], y: float) -> float:
    """Draw one step below its title, and return where it ends."""
    title, strategy = named
    left = 0.0 if canvas.narrow else _LABELS
    scale = (canvas.width - left - 2) / length(spans)
    canvas.text((0, y + 13), title, "h1")
    canvas.text((canvas.width, y + (30 if canvas.narrow else 13)), _says(spans), "b", "end")
    y += 38 if canvas.narrow else 22
    for words, kinds in _LANES[strategy].items():
        canvas.text((0, y + (11 if canvas.narrow else 14)), words, "s m" if canvas.narrow else "")
        y += 15 if canvas.narrow else 0
        _lane(canvas, [span for span in spans if span.kind in kinds], (left, y, scale))
        y += 26
    return _whole(canvas, spans, (left, y, scale)) if strategy == "fsdp" else y


def _lane(canvas: Canvas, spans: list[Span], place: tuple[float, float, float]) -> None:
    """Draw the messages or the passes, with the layer and, where it fits, what it is."""
    left, y, scale = place
    canvas.rect(left, y, (canvas.width - left - 2, 20), "soft")
    for span in spans:
        x, w = left + span.start * scale, (span.end - span.start) * scale
        canvas.rect(x, y, (w, 20), fill=_FILLS[span.kind])
        long = f"{span.kind} {span.layer}"
        words = long if width_of(long, "s") + 6 <= w else str(span.layer)
        if w >= 9:  # noqa: PLR2004 - the width of a digit
            canvas.text((x + w / 2, y + 14), words, "s halo", "mid")


def _whole(canvas: Canvas, spans: list[Span], place: tuple[float, float, float]) -> float:
    """Draw the number of unsharded layers over time."""
    left, y, scale = place
    steps = unsharded(spans)
    most = max(held for _, held in steps)
    if canvas.narrow:
        canvas.text((0, y + 11), f"unsharded layers: at most {most}", "s m")
        y += 14
    else:
        canvas.text((0, y + 12), "unsharded")
        canvas.text((0, y + 27), f"layers: at most {most}", "s m")
    floor = y + _UNIT * most + 4
    d = "".join(f"H{coordinate(left + time * scale)}V{floor - held * _UNIT:g}" for time, held in steps)
    canvas.path(f"M{left:g} {floor:g}{d}V{floor:g}z", "", "w")
    return floor + 6
