"""Draw what one layer saves for backward, to scale, for each kind of gradient checkpointing."""

from dataclasses import dataclass
from functools import partial

from headroom.pages.calculations import Source
from headroom.pictures.canvas import Canvas, Picture, sentences
from headroom.pictures.formulas import Formulas
from headroom.pictures.text_width import figure
from headroom.records.pictures import SavedTensors, Variant

_TALL = 28


@dataclass(frozen=True, slots=True)
class Group:
    """Tensors of a layer, in bytes per token."""

    name: str
    saved: float
    selective: float

    def kept(self, variant: Variant) -> float:
        """Return the bytes per token that a kind of checkpointing saves of the group."""
        return {"all": self.saved, "selective": self.selective, "input": 0.0}[variant.saves]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: its input and its groups in bytes per token, and the tokens times the layers of a step."""

    input: float
    groups: tuple[Group, ...]
    times: float

    def gib(self, variant: Variant) -> float:
        """Return what all layers save for all tokens, in GiB."""
        own = 0.0 if variant.saves == "all" else self.input
        return (own + sum(group.kept(variant) for group in self.groups)) * self.times / 2**30


def picture(name: str, data: SavedTensors, source: Source) -> Picture:
    """Return the layers with their bytes in words."""
    layer = _layer(data, source)
    words = (f"{each.name}: {each.note}. {figure(layer.gib(each))} GiB {_place(each)}" for each in data.variants)
    return Picture(name, data.title, sentences(words), partial(_draw, layer=layer, data=data))


def _layer(data: SavedTensors, source: Source) -> Layer:
    formulas = Formulas(data.let, source)
    groups = (Group(each.name, formulas.value(each.saved), formulas.value(each.selective)) for each in data.groups)
    times = formulas.value(data.tokens) * formulas.value(data.layers)
    return Layer(formulas.value(data.input), tuple(groups), times)


def _place(variant: Variant) -> str:
    return "on the GPU" if variant.where == "GPU" else "in host memory"


def _draw(canvas: Canvas, layer: Layer, data: SavedTensors) -> None:
    y = 0.0
    for variant in data.variants:
        y = _variant(canvas, variant, layer, y) + 18
    x = 0.0
    for cls, fill, words in (("box", "a", "saved"), ("none", "", "recomputed in backward")):
        canvas.rect(x, y, (16, 12), cls, fill=fill)
        canvas.text((x + 22, y + 10), words, "s m")
        x += 78
    canvas.text((0, y + 32), "Width: bytes per token in one layer", "s m")


def _variant(canvas: Canvas, variant: Variant, layer: Layer, y: float) -> float:
    """Draw one kind of checkpointing and return where it ends."""
    canvas.text((0, y + 13), variant.name, "h1")
    canvas.text((canvas.width, y + 13), f"{figure(layer.gib(variant))} GiB {_place(variant)}", "b", "end")
    y = canvas.paragraph((0, y + 30), variant.note, canvas.width, "s m") - 4
    if variant.saves == "all":
        y += 12
    _groups(canvas, variant, layer, y)
    return _host(canvas, y + _TALL) if variant.where == "host" else y + _TALL


def _groups(canvas: Canvas, variant: Variant, layer: Layer, y: float) -> None:
    """Draw the groups of a layer in order: filled is saved, dashed is recomputed."""
    scale = (canvas.width - 2) / (layer.input + sum(group.saved for group in layer.groups))
    if variant.saves != "all":
        on_gpu = variant.where == "GPU"
        canvas.rect(1, y, (layer.input * scale, _TALL), "box" if on_gpu else "none", fill="a" if on_gpu else "")
    x = 1 + layer.input * scale
    for group in layer.groups:
        kept = group.kept(variant) * scale
        if kept < group.saved * scale:
            canvas.rect(x + kept, y, (group.saved * scale - kept, _TALL), "none")
        if kept:
            canvas.rect(x, y, (kept, _TALL), fill="a")
        if variant.saves == "all":
            canvas.text((x + group.saved * scale / 2, y - 5), group.name, "s", "mid")
        x += group.saved * scale


def _host(canvas: Canvas, y: float) -> float:
    """Draw host memory below the layer's input, with the copy out and the copy back."""
    canvas.rect(1, y + 30, (130, 24), "soft")
    canvas.rect(1, y + 30, (14, 24), fill="a")
    canvas.text((22, y + 46), "host memory", "s b")
    canvas.arrow((5, y), (5, y + 30))
    canvas.arrow((13, y + 30), (13, y), "ln dash")
    canvas.text((24, y + 19), "out in forward, back (dashed) in backward, over PCIe", "s m")
    return y + 54
