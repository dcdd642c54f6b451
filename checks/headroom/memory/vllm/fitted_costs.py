"""What vLLM subtracts from its budget besides weights: the profiled batch, non-torch memory and CUDA graphs.

vLLM runs one batch of the largest size without a KV cache, and subtracts the peak of it. The forward part of this peak
is a formula. The bytes of the sampler per logit, the memory that is no tensor of PyTorch, and the CUDA graphs are
fitted to the recorded logs: nothing in them is derived.

Source: https://github.com/vllm-project/vllm/blob/a6d5c39009eb73797b276cc557ca9659c396ca14/vllm/utils/mem_utils.py,
``memory_profiling``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from headroom.memory.architecture import Architecture
from headroom.memory.vllm.kv_blocks import gpu_symbols
from headroom.memory.vllm.settings import ENGINES, EngineSettings

_ACTIVATION_BYTES, _BUFFERS = 2, 3
_LONG_PREFILL = 32768
_SAMPLER_GRID = tuple(each / 2 for each in range(121))
ONE, SEVERAL = "one GPU", "several GPUs"


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch that vLLM profiles: its sequences and its tokens."""

    sequences: int
    tokens: int


@dataclass(frozen=True, slots=True)
class FittedCosts:
    """The fitted constants.

    Attributes:
        sampler: bytes per logit of the profiled sequences, by engine.
        fixed: bytes that are no tensors of PyTorch, for one GPU and for several.
        graphs: bytes of CUDA graphs: the median of the logs that print them.
        logs: how many logs they are fitted to.
    """

    sampler: Mapping[str, float]
    fixed: Mapping[str, float]
    graphs: float
    logs: int


@dataclass(frozen=True, slots=True)
class CostSample:
    """What one log took of its budget besides weights and KV cache.

    Attributes:
        name: the id of the log.
        engine: its engine.
        several: whether it ran on several GPUs.
        other: the bytes that are neither weights nor KV cache.
        forward: the bytes of the forward part of the profiled batch.
        logits: the logits of the profiled sequences.
    """

    name: str
    engine: str
    several: bool
    other: float
    forward: float
    logits: float


def forward_bytes(architecture: Architecture, settings: EngineSettings, tokens: int) -> int:
    """Return the peak of activations of a forward pass: three hidden states and three intermediate ones per token.

    A gated MLP holds the fused gate and up projections and their product; the attention's inputs are smaller.

    Args:
        architecture: the model's shape.
        settings: the flags.
        tokens: the tokens of the batch.
    """
    symbols = gpu_symbols(architecture, settings.tensor)
    wide = symbols.get("m", symbols["f"]) * symbols.get("e", 1)
    return tokens * _ACTIVATION_BYTES * _BUFFERS * (wide + symbols["h"])


def logits_of(architecture: Architecture, settings: EngineSettings, batch: Batch) -> int:
    """Return how many logits vLLM samples from in the profiled batch; each GPU gathers the whole vocabulary.

    Engine v0 split prompts of models with more than 32,768 positions, and the logs show no sampling then.
    """
    if settings.engine == "v0" and int(settings.max_model_len or 0) > _LONG_PREFILL:
        return 0
    return min(batch.sequences, batch.tokens) * architecture.symbols["V"]


def profiled_bytes(architecture: Architecture, settings: EngineSettings, batch: Batch, costs: FittedCosts) -> int:
    """Return the peak of the profiled batch: of its forward pass or of its sampling, whichever is larger."""
    sampling = costs.sampler[settings.engine] * logits_of(architecture, settings, batch)
    return int(max(forward_bytes(architecture, settings, batch.tokens), sampling))


def older_batch(length: int) -> int:
    """Return the default ``max_num_batched_tokens`` of engine v0, which did not split prompts up to 32,768 tokens."""
    return max(length, 2048) if length <= _LONG_PREFILL else 2048


def fitted(samples: Sequence[CostSample], graphs: Sequence[float]) -> FittedCosts:
    """Fit the constants to samples: the sampler by least absolute residuals, the others by medians.

    Args:
        samples: what the logs took besides weights and KV cache.
        graphs: the bytes of CUDA graphs that logs print.

    Raises:
        ValueError: there is no sample.
    """
    if not samples:
        raise ValueError("no log states its budget and the memory for the KV cache")
    sampler = {engine: _sampler([each for each in samples if each.engine == engine]) for engine in ENGINES}
    fixed = {
        name: _middle([_rest(each, sampler[each.engine]) for each in samples if each.several is several])
        for name, several in ((ONE, False), (SEVERAL, True))
    }
    return FittedCosts(sampler, fixed, _middle(graphs), len(samples))


def _rest(sample: CostSample, sampler: float) -> float:
    return sample.other - max(sample.forward, sampler * sample.logits)


def _sampler(samples: Sequence[CostSample]) -> float:
    """Return the bytes per logit with the least sum of residuals, each from the median of its number of GPUs."""
    costs = {each: _cost(samples, each) for each in _SAMPLER_GRID}
    return min(costs, key=lambda each: costs[each])


def _cost(samples: Sequence[CostSample], sampler: float) -> float:
    total = 0.0
    for several in (False, True):
        rests = [_rest(each, sampler) for each in samples if each.several is several]
        middle = max(0.0, _middle(rests))
        total += sum(abs(each - middle) for each in rests)
    return total


def _middle(numbers: Sequence[float]) -> float:
    return max(0.0, median(numbers)) if numbers else 0.0
