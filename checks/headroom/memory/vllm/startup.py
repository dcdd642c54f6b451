"""Estimate a start of vLLM: memory per GPU, tokens of KV cache, concurrency, and whether it starts.

Sources: https://github.com/vllm-project/vllm/blob/0012cf691b7e69423244d2b1405f4b6832156e19/vllm/v1/worker/
gpu_worker.py, ``determine_available_memory``, and the two errors of
https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/v1/core/kv_cache_planning.py, ``_check_enough_kv_cache_memory``.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError, whole
from headroom.memory.vllm.fitted_costs import ONE, SEVERAL, Batch, FittedCosts, profiled_bytes
from headroom.memory.vllm.gpu_weights import gpu_weight_bytes
from headroom.memory.vllm.kv_blocks import KvLayout, kv_layout
from headroom.memory.vllm.settings import EngineSettings, batch_defaults

STARTS, NO_MEMORY, TOO_LONG = "started", "no-memory", "too-long"
_STEPS_IN_FLIGHT = 2
"""Batches that vLLM 0.33 schedules ahead; blocks outside of a sliding window are freed after them."""
_NATIVE = {"gpt_oss": "mxfp4", "deepseek_v3": "fp8"}
"""The format in which the models of an architecture are published, if it is not 16 bits."""
_UTILIZATIONS = tuple(each / 100 for each in range(50, 99))
_MOST_GPUS = 64


@dataclass(frozen=True, slots=True)
class VllmEstimate:
    """What vLLM is expected to report when it starts. Sizes are bytes per GPU.

    Attributes:
        model: the model's name.
        settings: the flags, with the defaults filled in.
        card: the card's memory.
        weights: the weights.
        profiled: the peak of the profiled batch.
        other: memory that is no tensor of PyTorch, and CUDA graphs.
        kv: how keys and values are stored.
        tokens: the tokens of KV cache; 0 if none fit.
        concurrency: how many requests of the full length fit at once.
        needed: the KV cache of one request of the full length.
        longest: the tokens of the longest request that fits.
        outcome: ``started``, ``no-memory`` or ``too-long``.
    """

    model: str
    settings: EngineSettings
    card: int
    weights: int
    profiled: int
    other: int
    kv: KvLayout
    tokens: int
    concurrency: float
    needed: int
    longest: int
    outcome: str

    @property
    def budget(self) -> int:
        """Return the part of the card's memory that vLLM may take."""
        return int(self.card * self.settings.gpu_memory_utilization)

    @property
    def available(self) -> int:
        """Return the memory for the KV cache; it is negative if the rest exceeds the budget."""
        return self.budget - self.weights - self.profiled - self.other

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return {
            **asdict(self),
            "budget": self.budget,
            "available": self.available,
            "bytes_per_token": self.kv.block_bytes * len(self.kv.groups) / self.kv.block,
        }


def filled(architecture: Architecture, settings: EngineSettings, card: int, *, a100: bool) -> EngineSettings:
    """Return flags with the defaults of ``vllm serve`` filled in.

    Raises:
        EstimateError: neither the flags nor the configuration state a length, or the length exceeds the model's.
    """
    longest = architecture.config.get("max_position_embeddings")
    length = settings.max_model_len or longest
    if length is None:
        raise EstimateError("max_model_len", "is not given, and the configuration has none", "give --max-model-len N")
    if longest is not None and length > whole("max_position_embeddings", longest):
        raise EstimateError(
            "max_model_len", f"is {length:,}", f"the model has {longest:,} positions; give at most that"
        )
    sequences, tokens = batch_defaults(card, a100=a100)
    sequences = settings.max_num_seqs or sequences
    tokens = settings.max_num_batched_tokens or min(tokens, sequences * length)
    quantization = settings.quantization or _NATIVE.get(str(architecture.config.get("model_type")))
    return replace(
        settings,
        max_model_len=length,
        max_num_seqs=sequences,
        max_num_batched_tokens=tokens,
        quantization=quantization,
    )


def estimate_start(architecture: Architecture, settings: EngineSettings, card: int, costs: FittedCosts) -> VllmEstimate:
    """Estimate a start whose flags are all set; see ``headroom.memory.vllm.estimate``."""
    length, batched = int(settings.max_model_len or 0), int(settings.max_num_batched_tokens or 0)
    batch = Batch(int(settings.max_num_seqs or 0), batched)
    kv, weights = kv_layout(architecture, settings), gpu_weight_bytes(architecture, settings)
    profiled = profiled_bytes(architecture, settings, batch, costs)
    captures = settings.reserve_graphs and not settings.enforce_eager
    other = int(costs.fixed[ONE if settings.tensor == 1 else SEVERAL] + (costs.graphs if captures else 0))
    available = int(card * settings.gpu_memory_utilization) - weights - profiled - other
    ahead = in_flight(settings)
    needed, blocks = kv.needed(length, ahead), kv.blocks(available)
    concurrency = kv.concurrency(blocks, length, ahead)
    outcome = NO_MEMORY if available <= 0 else TOO_LONG if needed > available else STARTS
    tokens = int(concurrency * length) if settings.engine == "v2" else kv.tokens_of_blocks(blocks)
    longest = kv.longest(available, length, ahead)
    return VllmEstimate(
        architecture.name, settings, card, weights, profiled, other, kv, tokens, concurrency, needed, longest, outcome
    )


def in_flight(settings: EngineSettings) -> int:
    """Return the tokens that are scheduled and not yet settled."""
    return int(settings.max_num_batched_tokens or 0) * (_STEPS_IN_FLIGHT if settings.engine == "v2" else 1)


def remedies(architecture: Architecture, found: VllmEstimate, costs: FittedCosts) -> list[str]:
    """Return the flags with which a failed start is expected to succeed, each alone."""
    settings = found.settings

    def starts(**changes: Any) -> bool:
        try:
            changed = replace(settings, **changes)
            return estimate_start(architecture, changed, found.card, costs).outcome == STARTS
        except EstimateError:
            return False

    lines = []
    if found.longest > 0:
        lines.append(f"--max-model-len {found.longest}")
    share = next(
        (each for each in _UTILIZATIONS if each > settings.gpu_memory_utilization and _helps(starts, each)), None
    )
    if share is not None:
        lines.append(f"--gpu-memory-utilization {share:.2f}")
    if settings.cache == "bf16" and starts(cache="fp8"):
        lines.append("--kv-cache-dtype fp8")
    for name, least in (("max_num_seqs", 16), ("max_num_batched_tokens", 2048)):
        if int(getattr(settings, name) or 0) > least and starts(**{name: least}):
            lines.append(f"--{name.replace('_', '-')} {least}")
    if settings.quantization is None and starts(quantization="fp8"):
        lines.append("--quantization fp8")
    gpus = next((each for each in _doubled(settings.tensor) if starts(tensor=each)), None)
    return [*lines, f"--tensor-parallel-size {gpus}"] if gpus else lines


def _helps(starts: Any, share: float) -> bool:
    return bool(starts(gpu_memory_utilization=share))


def _doubled(gpus: int) -> list[int]:
    found = [gpus * 2]
    while found[-1] < _MOST_GPUS:
        found.append(found[-1] * 2)
    return found
