"""The data of the estimator in the browser: polynomials, models, cards and fixed costs, as a script.

Polynomials are texts such as ``16.B.S.h+512``. Equal polynomials are stored once, and variants refer to their numbers.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from headroom.memory.architecture import Architecture
from headroom.memory.cache import kept_tokens, numbers_per_token
from headroom.memory.coefficients import attention_of
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import recorded
from headroom.memory.fixed_costs import beside_tensors, fixed_costs
from headroom.memory.job import Job
from headroom.memory.known_errors import in_words, known_error
from headroom.memory.layouts import Layout
from headroom.memory.least_time import speeds_of
from headroom.memory.polynomials import Polynomial
from headroom.memory.resident import Resident
from headroom.memory.sizes import card_bytes
from headroom.memory.weights import Tensor
from headroom.records.memory_coefficients import HeadMemory, LayerMemory, VariantMemory
from headroom.records.tree import Tree

JOBS = ("full", "lora", "qlora", "evaluate", "prefill", "decode")
PRECISIONS = ("bf16", "mixed", "autocast", "fp32")
_ENDLESS = 1 << 40
_ERRORS = {
    **{name: Job(job=name) for name in JOBS[:4]},
    "inference": Job(job="decode"),
    "quantized": Job(job="decode", quantization="nf4"),
}
"""The jobs whose known error the browser shows, by its names of them; inference with quantized weights apart."""
_RANK = 1_000_003
"""A prime that divides no size of a model."""


def script(tree: Tree, models: Mapping[str, Architecture]) -> str:
    """Return a script that defines ``memoryData``."""
    return f"const memoryData={json.dumps(data(tree, models), separators=(',', ':'), ensure_ascii=False)}\n"


def data(tree: Tree, models: Mapping[str, Architecture]) -> dict[str, Any]:
    """Return the data as JSON values."""
    polynomials, groups = Polynomials(), _Groups()
    listed = {name: _model(tree, name, each, groups) for name, each in models.items()}
    fixed = fixed_costs(0, Layout(), tree.root)
    return {
        "groups": [_variants(each, polynomials) for each in groups.found],
        "models": listed,
        "cards": cards(tree),
        "speeds": {name: [each.bandwidth, each.rates] for name, each in speeds_of(tree.root).items()},
        "fixed": {"low": fixed.low, "high": fixed.high, "share": beside_tensors(1, tree.root).share},
        "polys": polynomials.texts,
        "errors": {name: in_words(known_error(job, tree.root)) for name, job in _ERRORS.items()},
    }


def cards(tree: Tree) -> list[list[Any]]:
    """Return the id, the name, the printed memory and the usable bytes of each card, the smallest first."""
    found = [
        [name, card.names[0], f"{card.printed.value:g} {card.printed.unit}", card_bytes(name, tree.root)]
        for name, card in tree.cards.cards.items()
    ]
    return sorted(found, key=lambda card: (float(card[2].split()[0]), card[1]))


class Polynomials:
    """Polynomials as texts, each with a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        """The polynomials as texts, each at the place of its number."""
        return list(self._numbers)

    def number(self, polynomial: Polynomial) -> int:
        """Return the number of a polynomial."""
        terms = [".".join([str(size), *term.split("*")] if term else [str(size)]) for term, size in polynomial.items()]
        return self._numbers.setdefault("+".join(terms), len(self._numbers))

    def numbers(self, polynomials: Iterable[Polynomial]) -> list[int]:
        """Return the numbers of some polynomials."""
        return [self.number(each) for each in polynomials]


Recorded = dict[str, tuple[VariantMemory, bool] | str]
"""The polynomials of each job, with whether they are of tied embeddings, or the reason why a library refuses it."""


class _Groups:
    """Groups of models with the same polynomials for every job."""

    def __init__(self) -> None:
        self.found: list[Recorded] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def number(self, architecture: Architecture) -> int:
        """Return the number of a model's group."""
        known = _recorded(architecture)
        same = tuple((name, each if isinstance(each, str) else (id(each[0]), each[1])) for name, each in known.items())
        if same not in self._numbers:
            self.found.append(known)
        return self._numbers.setdefault(same, len(self._numbers))


def _recorded(architecture: Architecture) -> Recorded:
    found: Recorded = {}
    variants = architecture.coefficients.variants
    for job in _jobs():
        name = job.variant.format(attention_of(architecture.coefficients, job.variant))
        if not any(each.startswith(name) for each in variants):  # the error of `recorded` searches for similar names
            continue
        try:
            found[key(job)] = recorded(architecture, job)[1:]
        except EstimateError:
            if refused := variants.get(name, VariantMemory()).refused:
                found[key(job)] = refused
    return found


def _variants(group: Recorded, polynomials: Polynomials) -> dict[str, Any]:
    return {
        name: each if isinstance(each, str) else variant_numbers(each[0], polynomials, tied=each[1])
        for name, each in group.items()
    }


def _jobs() -> Iterator[Job]:
    for precision in PRECISIONS:
        for kind in JOBS:
            yield Job(job=kind, precision=precision)
            if kind in JOBS[:3]:
                yield Job(job=kind, precision=precision, checkpointing=True)


def key(job: Job) -> str:
    """Return the key of a job's polynomials in the browser."""
    return f"{job.precision} {job.job}{' checkpointed' if job.checkpointing else ''}"


def variant_numbers(memory: VariantMemory, polynomials: Polynomials, *, tied: bool) -> dict[str, Any]:
    """Return the polynomials of a job by their numbers."""
    return {
        "tied": int(tied),
        "before": polynomials.number(memory.before),
        "layers": {kind: _layer(each, polynomials) for kind, each in memory.layers.items()},
        "head": _passes(memory.head, polynomials),
        "chunked": memory.head_chunked and _passes(memory.head_chunked, polynomials),
        "end": [polynomials.numbers(memory.end.backward), polynomials.numbers(memory.end.backward_accumulated)],
    }


def _layer(memory: LayerMemory, polynomials: Polynomials) -> list[Any]:
    one = [polynomials.number(each) for each in (memory.cache, memory.cached, memory.saved)]
    return [*one, *_passes(memory, polynomials)]


def _passes(memory: LayerMemory | HeadMemory, polynomials: Polynomials) -> list[list[int]]:
    return [polynomials.numbers(each) for each in (memory.forward, memory.backward, memory.backward_accumulated)]


def _model(tree: Tree, name: str, architecture: Architecture, groups: _Groups) -> dict[str, Any]:
    """Return a model: its names, symbols, layers with their attention windows, and tensors."""
    symbols = architecture.with_derived(architecture.symbols)
    base, adapted = (_resident(architecture, symbols, kind) for kind in ("full", "lora"))
    return {
        "title": tree.shapes[name].title,
        "names": list(tree.shapes[name].names),
        "limit": architecture.config.get("max_position_embeddings") or 0,
        "group": groups.number(architecture),
        "tied": int(architecture.tied),
        "symbols": symbols,
        "numbers": _cached_numbers(architecture, symbols),
        "sdpa": int(attention_of(architecture.coefficients, Job().variant) == "sdpa"),
        "layers": [[*each, len(list(same))] for each, same in groupby(_layers(architecture))],
        "weights": {kind: _tensors(tensors) for kind, tensors in base.base.items()},
        "adapters": {kind: _tensors(tensors) for kind, tensors in adapted.adapters.items()},
    }


def _resident(architecture: Architecture, symbols: Mapping[str, int], kind: str) -> Resident:
    job = Job(job=kind, rank=_RANK)
    return Resident(architecture, job, symbols, architecture.kinds, first=True, last=True)


def _cached_numbers(architecture: Architecture, symbols: Mapping[str, int]) -> int:
    """Return the numbers that a layer caches per token; 0 for an architecture without a cache."""
    return numbers_per_token(architecture, symbols) if "d" in symbols or "kl" in symbols else 0


def _layers(architecture: Architecture) -> Iterator[tuple[str, int]]:
    """Yield each layer's kind and its window: 0 if it caches every token, -1 if it keeps another state."""
    for number, kind in enumerate(architecture.kinds):
        try:
            window = kept_tokens(architecture, number, _ENDLESS)
        except EstimateError:
            window = -1
        yield kind, 0 if window == _ENDLESS else window


def _tensors(tensors: Iterable[Tensor]) -> list[list[Any]]:
    """Return the shape, the kind and the number of each group of equal tensors; a size of −2 is twice the rank."""
    sizes = (
        (tuple(-(size // _RANK) if size % _RANK == 0 else size for size in each.shape), each.kind) for each in tensors
    )
    return [[list(shape), kind, count] for (shape, kind), count in Counter(sizes).items()]
