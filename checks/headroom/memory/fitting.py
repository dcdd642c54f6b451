"""Judge whether a job fits on a card, find the largest batch and length, and the changes that lower the peak."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, configured_job, estimate_architecture
from headroom.memory.job import Job
from headroom.memory.weight_formats import EIGHT_BITS

FITS, WITHIN_ERROR, DOES_NOT_FIT = "fits", "may fit, within the error", "does not fit"
MOST_BATCH, MOST_LENGTH = 1 << 16, 1 << 24


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a job that lowers its peak.

    Attributes:
        name: the change in words.
        method: the id of its method, below checks/methods/.
        claims: the claims about its cost.
        options: the changed fields of the job and of its layout.
        saved: the bytes by which it lowers the peak.
        needed: the least and the most bytes of a card afterwards.
    """

    name: str
    method: str
    claims: tuple[str, ...]
    options: Mapping[str, Any]
    saved: int
    needed: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    method: str
    claims: tuple[str, ...]
    options: Callable[[Job], Mapping[str, Any] | None]
    """The changed fields; None if the job has them already, or cannot have them."""


def _when(condition: Callable[[Job], bool], **options: Any) -> Callable[[Job], Mapping[str, Any] | None]:
    return lambda job: options if condition(job) else None


def _half_batch(job: Job) -> Mapping[str, Any] | None:
    """Return half the batch with twice the accumulation."""
    if not job.training or job.batch % 2:
        return None
    return {"batch": job.batch // 2, "accumulation": job.accumulation * 2}


def _half_the_sequences(job: Job) -> Mapping[str, Any] | None:
    """Return half the batch of a job with a KV cache; None if the batch is odd."""
    return None if job.job not in _CACHED or job.batch % 2 else {"batch": job.batch // 2}


def _quantized(form: str, *larger: str) -> Callable[[Job], Mapping[str, Any] | None]:
    """Return what stores the linear weights of inference in a format, if they are in 16 bits or in a larger one."""
    return _when(lambda job: job.job in _CACHED and job.quantization in ("auto", *larger), quantization=form)


def _twice_the_gpus(job: Job) -> Mapping[str, Any]:
    """Return twice the data-parallel GPUs, with FSDP unless weights are sharded already."""
    layout = job.layout
    strategy = layout.strategy if layout.weight_shards > 1 else "fsdp"
    shard = {"shard": layout.shard * 2} if strategy == "hsdp" else {}
    return {"data": layout.data * 2, "strategy": strategy, "gradient_as_bucket_view": False, **shard}


_CACHED = ("prefill", "decode")
_FULL_ADAMW = ("adamw_torch_fused", "adamw_torch", "adamw_torch_loop")
# In the order of their cost: first what costs nothing, then time, then quality, then GPUs.
_CANDIDATES = (
    _Candidate(
        "fused optimizer",
        "smaller-optimizer-step",
        ("training.optimizer.llama-fused-step-time",),
        _when(lambda job: job.training and job.optimizer == "adamw_torch", optimizer="adamw_torch_fused"),
    ),
    _Candidate(
        "chunked loss",
        "chunked-loss",
        ("training.chunked-loss.llama-step-time",),
        _when(lambda job: job.training and job.loss == "whole", loss="chunked"),
    ),
    _Candidate(
        "fused loss (Liger)",
        "chunked-loss",
        ("training.chunked-loss.liger-throughput-llama-8b",),
        _when(lambda job: job.training and job.loss == "whole", loss="fused"),
    ),
    _Candidate(
        "activation checkpointing",
        "activation-checkpointing",
        ("training.torchtune-flags.checkpointing-throughput",),
        _when(lambda job: job.training and not job.checkpointing, checkpointing=True),
    ),
    _Candidate(
        "half the batch, twice the accumulation",
        "gradient-accumulation",
        ("training.gradient-accumulation.llama-throughput",),
        _half_batch,
    ),
    _Candidate(
        "8-bit AdamW",
        "eight-bit-adam",
        ("training.eight-bit-adam.reported-throughput", "training.eight-bit-adam.same-performance"),
        _when(lambda job: job.training and job.optimizer in _FULL_ADAMW, optimizer="adamw_bnb_8bit"),
    ),
    _Candidate(
        "optimizer states in CPU memory",
        "optimizer-offload",
        ("training.optimizer-offload.step-time-vit",),
        _when(lambda job: job.training and job.layout.offload == "none", offload="optimizer"),
    ),
    _Candidate("half the sequences at once", "batch-size-inference", (), _half_the_sequences),
    _Candidate(
        "int8 KV cache",
        "quantized-cache",
        (),
        _when(lambda job: job.job in _CACHED and job.cache in ("bf16", "fp32"), cache="int8"),
    ),
    _Candidate(
        "int4 KV cache",
        "quantized-cache",
        (),
        _when(lambda job: job.job in _CACHED and job.cache in ("bf16", "fp32", "int8"), cache="int4"),
    ),
    _Candidate(
        "8-bit weights (LLM.int8)",
        "quantized-weights",
        ("inference.quantization.int8-outliers-rtx-4090-batch-1", "inference.quantization.int8-h100-batch-1"),
        _quantized("int8"),
    ),
    _Candidate(
        "4-bit weights (NF4)",
        "quantized-weights",
        (
            "inference.quantization.nf4-rtx-4090-batch-1",
            "inference.quantization.nf4-h100-batch-1",
            "inference.quantization.nf4-hellaswag-llama-8b",
        ),
        _quantized("nf4", *EIGHT_BITS),
    ),
    _Candidate(
        "4-bit checkpoint (AWQ, GPTQ)",
        "quantized-weights",
        ("inference.quantization.int4-compiled-a100", "inference.quantization.gptq-hellaswag-llama-8b"),
        _quantized("int4", *EIGHT_BITS, "nf4", "nf4-double"),
    ),
    _Candidate(
        "LoRA",
        "lora",
        ("training.lora.throughput-mistral-7b", "training.lora.learns-less"),
        _when(lambda job: job.job == "full", job="lora"),
    ),
    _Candidate(
        "QLoRA",
        "qlora",
        ("training.qlora.throughput-mistral-7b", "training.lora.learns-less"),
        _when(lambda job: job.job in ("full", "lora"), job="qlora", targets="all"),
    ),
    _Candidate(
        "twice the GPUs, weights sharded", "fsdp", ("training.fsdp.throughput-128-gpus-llama-8b",), _twice_the_gpus
    ),
)


def cost_of(change: str) -> tuple[str, tuple[str, ...]]:
    """Return the id of a change's method, and the claims about its cost.

    Raises:
        KeyError: no change has this name.
    """
    return {each.name: (each.method, each.claims) for each in _CANDIDATES}[change]


def verdict(needed: tuple[int, int], card: int) -> str:
    """Return whether what is needed fits, for certain or within the error.

    Args:
        needed: the least and the most bytes of the process.
        card: the bytes of the card.
    """
    low, high = needed
    return FITS if high <= card else DOES_NOT_FIT if low > card else WITHIN_ERROR


class Fitting:
    """The questions about one model, one job and one card.

    Args:
        architecture: the model's shape.
        job: the job.
        card: the bytes of the card.
        root: the project's folder.
    """

    def __init__(self, architecture: Architecture, job: Job, card: int, root: Path) -> None:
        self.architecture, self.job, self.card, self.root = architecture, job, card, root

    def estimate(self, **options: Any) -> Estimate:
        """Return the estimate of the job with changed fields."""
        return estimate_architecture(self.architecture, configured_job(self.job, options), self.root)

    def largest(self, field: str, most: int) -> int:
        """Return the largest value of a field with which the estimate's upper end fits the card; 0 if none does."""
        step = self.job.layout.context if field == "length" else 1

        def fits(count: int) -> bool:
            return verdict(self.estimate(**{field: count * step}).needed, self.card) == FITS

        low, high = 0, most // step
        while 2 * low < high and fits(2 * low or 1):
            low = 2 * low or 1
        high = min(high, 2 * low - 1 if low else 0) if 2 * low < high else high
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fits(middle) else (low, middle - 1)
        return low * step

    def largest_batch(self) -> int:
        """Return the largest batch per GPU that fits."""
        return self.largest("batch", MOST_BATCH)

    def largest_length(self) -> int:
        """Return the longest sequence that fits."""
        return self.largest("length", MOST_LENGTH)

    def changes(self) -> Iterator[Change]:
        """Yield each single change that lowers the peak, the cheapest first."""
        peak = self.estimate().peak
        return (change for each in _CANDIDATES if (change := self._changed(each, self.job, peak)))

    def combination(self) -> list[Change] | None:
        """Return changes, each on top of those before, with which the job fits; None if all of them do not suffice.

        The changes come in the order of their cost. Each lowers the peak that the earlier ones have left, and the job
        does not fit without it.
        """
        needed = self._enough(list(_CANDIDATES))
        if needed is None:
            return None
        chosen = [candidate for candidate in _CANDIDATES if candidate.name in {change.name for change in needed}]
        for candidate in chosen[-2::-1]:  # the last one made it fit
            without = [each for each in chosen if each is not candidate]
            chosen = without if self._enough(without) is not None else chosen
        return self._enough(chosen)

    def _enough(self, candidates: Sequence[_Candidate]) -> list[Change] | None:
        """Return candidates that lower the peak, each on top of those before, up to the one with which the job fits.

        A candidate that does not lower the peak at first is tried again: checkpointing helps when optimizer states are
        no longer the largest part.
        """
        job, found = self.job, self.estimate()
        peak, made = found.peak, list[Change]()
        waiting, fits = list(candidates), verdict(found.needed, self.card) == FITS
        while not fits:
            tried = ((each, self._changed(each, job, peak)) for each in waiting)
            candidate, change = next(((each, change) for each, change in tried if change), (None, None))
            if candidate is None or change is None:
                return None
            made.append(change)
            waiting.remove(candidate)
            job, peak = configured_job(job, change.options), peak - change.saved
            fits = verdict(change.needed, self.card) == FITS
        return made

    def _changed(self, candidate: _Candidate, job: Job, peak: int) -> Change | None:
        """Return a change of a job, or None if it does not lower the peak or cannot be made."""
        options = candidate.options(job)
        if options is None:
            return None
        try:
            found = estimate_architecture(self.architecture, configured_job(job, options), self.root)
        except EstimateError:  # the family was not traced with this job, or the layout does not divide it
            return None
        saved = peak - found.peak
        if saved <= 0:
            return None
        return Change(candidate.name, candidate.method, candidate.claims, options, saved, found.needed)
