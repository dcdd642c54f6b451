"""The least time of a prefill or a decode step on a card: bytes over bandwidth, and FLOPs over the dense peak."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from headroom.memory.architecture import Architecture
from headroom.memory.cache import cache_bytes, kept_tokens
from headroom.memory.errors import EstimateError
from headroom.memory.job import Job
from headroom.memory.layouts import local_symbols
from headroom.memory.weight_formats import EIGHT_BITS
from headroom.memory.weights import OUTSIDE, Tensor, base_tensors
from headroom.records.accelerator_files import read_families
from headroom.records.accelerators import Accelerator, Bandwidth
from headroom.records.cards import CardsError, read_cards
from headroom.records.loader import Reader

JOBS = ("prefill", "decode")
"""The jobs that have a least time."""
_ENDLESS = 1 << 40


@dataclass(frozen=True, slots=True)
class Speed:
    """What a card reads and computes at most, as printed.

    Attributes:
        title: the card's title.
        bandwidth: bytes per second of one device.
        rates: dense FLOP/s of one device: the tensor cores' 16-bit rate by 2, TF32's or the vector units' by 4, and
            those of 8-bit numbers by ``int8`` and ``fp8``, where the card has them.
    """

    title: str
    bandwidth: float
    rates: Mapping[int | str, float]


@dataclass(frozen=True, slots=True)
class LeastTime:
    """A lower bound of the time of a prefill or a decode step.

    Attributes:
        weights: bytes of weights that the step reads. Of experts, those that its tokens use on average.
        cache: bytes of the KV cache that the step reads.
        flops: FLOPs of matmuls and attention.
        bandwidth: bytes per second.
        rate: FLOP/s; None if the card's record has none.
        experts: of the experts of a layer, the part that the step reads on average; None without experts.
    """

    weights: float
    cache: int
    flops: float
    bandwidth: float
    rate: float | None
    experts: float | None

    @property
    def reading(self) -> float:
        """Return the seconds that the reads take."""
        return (self.weights + self.cache) / self.bandwidth

    @property
    def computing(self) -> float:
        """Return the seconds that the FLOPs take; 0 if the rate is unknown."""
        return self.flops / self.rate if self.rate else 0.0

    @property
    def seconds(self) -> float:
        """Return the larger of both times."""
        return max(self.reading, self.computing)

    def to_dict(self) -> dict[str, Any]:
        """Return the times and their parts as JSON values."""
        return {
            "seconds": self.seconds,
            "reading": self.reading,
            "computing": self.computing,
            "weights": self.weights,
            "cache": self.cache,
            "flops": self.flops,
            "experts_read": self.experts,
        }


def least_time(architecture: Architecture, job: Job, card: str, root: Path) -> LeastTime:
    """Return the least time of a prefill or of a decode step.

    A prefill computes the LM head for the last token only, as ``generate()`` does. Attention is causal.

    Raises:
        EstimateError: the job is no inference, the layout divides more than tensors, or the card has no bandwidth.
    """
    if job.job not in JOBS:
        raise EstimateError("job", f"is {job.job}, which has no least time", f"use {' or '.join(JOBS)}")
    if job.layout.gpus != job.layout.tensor:
        raise EstimateError("layout", "divides more than tensors", "use --tensor alone")
    speed = speed_of(card, root)
    tokens = job.batch * (1 if job.job == "decode" else job.length)
    given = {"B": job.batch, "S": tokens // job.batch, "C": job.length, "r": job.rank, "K": job.chunk}
    symbols = architecture.with_derived(local_symbols({**architecture.symbols, **given}, job.layout))
    parts = [_weight(each, symbols, tokens, job) for each in _tensors(architecture, job, symbols)]
    weights, flops = (sum(column) for column in zip(*parts, strict=True))
    cached = cache_bytes(architecture, symbols, job.length, job.cache) if job.job == "decode" else 0
    experts = _experts_read(symbols, tokens) if "E" in symbols else None
    attention = sum(_attention(architecture, job, symbols, layer) for layer in range(len(architecture.kinds)))
    rate = speed.rates.get(job.weight_format or "", speed.rates.get(job.compute_width))
    return LeastTime(weights, cached, flops + attention, speed.bandwidth, rate, experts)


def _tensors(architecture: Architecture, job: Job, symbols: Mapping[str, int]) -> Iterator[Tensor]:
    """Yield each weight of the layers, and the LM head."""
    for kind, count in Counter(architecture.kinds).items():
        for tensor in base_tensors(architecture, symbols, job, kind):
            yield from (tensor for _ in range(count))
    vocabulary = symbols["V"]
    outside = base_tensors(architecture, symbols, job, OUTSIDE)
    heads = [each for each in outside if each.kind == ("embedding" if architecture.tied else "head")]
    yield from (Tensor(each.name, each.shape, "head", each.bytes) for each in heads if vocabulary in each.shape)


def _weight(tensor: Tensor, symbols: Mapping[str, int], tokens: int, job: Job) -> tuple[float, float]:
    """Return the bytes of a weight that a step reads, and the FLOPs of its matmul."""
    read = tensor.bytes if tensor.quantized else job.width * tensor.elements
    if tensor.kind == "expert":
        used = symbols["e"] / symbols["E"]
        return read * _experts_read(symbols, tokens), 2 * tokens * tensor.elements * used
    matmul = len(tensor.shape) > 1
    rows = symbols["B"] if tensor.kind == "head" else tokens
    return float(read), 2.0 * rows * tensor.elements * matmul


def _experts_read(symbols: Mapping[str, int], tokens: int) -> float:
    """Return the part of a layer's experts that so many tokens use on average, if all experts are equally likely."""
    return float(1 - (1 - symbols["e"] / symbols["E"]) ** tokens)


def _attention(architecture: Architecture, job: Job, symbols: Mapping[str, int], layer: int) -> int:
    """Return the FLOPs of the scores and of the weighted sum of one layer.

    Raises:
        EstimateError: the layer keeps a state that is no cache of keys and values.
    """
    sizes = _head_sizes(symbols, decode=job.job == "decode")
    if job.job == "decode":
        return 2 * job.batch * kept_tokens(architecture, layer, job.length) * sizes
    window = min(job.length, kept_tokens(architecture, layer, _ENDLESS) + 1)
    pairs = window * (window + 1) // 2 + (job.length - window) * window
    return 2 * job.batch * pairs * sizes


def _head_sizes(symbols: Mapping[str, int], *, decode: bool) -> int:
    """Return the numbers of queries and of outputs of all heads. Latent attention decodes with latent vectors."""
    if "kl" not in symbols:
        return 2 * symbols["a"] * symbols["d"]
    latent, rotary = symbols["kl"], symbols["dr"]
    return int(symbols["a"] * (2 * latent + rotary if decode else symbols["dn"] + rotary + symbols["dv"]))


def speed_of(card: str, root: Path) -> Speed:
    """Return what a card reads and computes at most, by its id, its title or one of its names.

    Raises:
        EstimateError: the card is unknown, or has no recorded bandwidth.
    """
    speeds = speeds_of(root)
    try:
        listed = read_cards(root).listed.cards
    except CardsError as error:
        raise EstimateError("card", f"is `{card}`", f"correct the list of cards ({error})") from error
    names = {name.lower(): key for key, each in listed.items() for name in (key, each.title, *each.names)}
    key = names.get(card.strip().lower(), "")
    if key not in speeds:
        raise EstimateError("card", f"is `{card}`, which has no recorded bandwidth", f"use {', '.join(speeds)}")
    return speeds[key]


@lru_cache(maxsize=4)
def speeds_of(root: Path) -> dict[str, Speed]:
    """Return the speed of each card whose record has a bandwidth, by the card's id."""
    accelerators = {name: each for family in _families(root) for name, each in family.items()}
    try:
        cards = read_cards(root).listed.cards
    except CardsError:
        return {}
    found = {key: _speed(card.title, accelerators.get(card.accelerator)) for key, card in cards.items()}
    return {key: speed for key, speed in found.items() if speed}


def _families(root: Path) -> list[Mapping[str, Accelerator]]:
    return [family.accelerators for family in read_families(Reader(root)).values()]


def _speed(title: str, accelerator: Accelerator | None) -> Speed | None:
    if accelerator is None or not isinstance(accelerator.bandwidth, Bandwidth):
        return None
    rates: dict[int | str, float | None] = {
        2: accelerator.peak("bf16") or accelerator.peak("fp16"),
        4: _fp32(accelerator),
        **{name: accelerator.peak(name) for name in EIGHT_BITS},
    }
    each = {width: rate * 1e12 / accelerator.devices for width, rate in rates.items() if rate}
    return Speed(title, accelerator.bandwidth.value * 1e9 / accelerator.devices, each)


def _fp32(accelerator: Accelerator) -> float | None:
    known = [rate for name in ("fp32", "tf32") if (rate := accelerator.peak(name))]
    return max(known) if known else None
