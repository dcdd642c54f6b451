"""The flags of vLLM that change its memory at start, checked, with the defaults of vLLM 0.33."""

import math
from dataclasses import dataclass, fields
from typing import Any

from headroom.memory.errors import EstimateError, one_of, whole

KV_DTYPES = {"bf16": 2, "fp8": 1, "fp32": 4}
QUANTIZATIONS = ("fp8", "awq", "gptq", "nf4", "mxfp4", "gguf-q8_0")
ENGINES = ("v0", "v1", "v2")
_MOST_TOKENS, _MOST_GPUS = 1 << 31, 1 << 12
_LARGE_CARD, _LARGEST_CARD = 70 * 2**30, 160 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """The flags of one start. The defaults are those of ``vllm serve`` in vLLM 0.33.

    Sources: https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/config/cache.py, ``gpu_memory_utilization``, and
    vllm/engine/arg_utils.py, ``get_batch_defaults``.

    Attributes:
        tensor: GPUs of tensor parallelism.
        max_model_len: tokens of the longest request; None is the model's ``max_position_embeddings``.
        gpu_memory_utilization: the part of the card's memory that vLLM may take.
        cache: the data type of the KV cache.
        quantization: the format of the weights; None is 16 bits, or the format in which the model is published.
        max_num_seqs: sequences in one batch; None is 1024 on a card of 70 GiB or more that is no A100, otherwise 256.
        max_num_batched_tokens: tokens in one batch; None is 16384 on cards of 160 GiB or more, 8192 on cards of 70
            GiB or more that are no A100, otherwise 2048.
        enforce_eager: whether vLLM captures no CUDA graphs.
        block: tokens in one block of the KV cache.
        engine: ``v0``, ``v1``, or ``v2`` for v1 with the second model runner, the one of vLLM 0.33.
        dtype_bytes: bytes per weight that is not quantized.
        aligned: whether each entry of a latent cache is padded to 256 bytes, as early versions did.
        reserve_graphs: whether vLLM subtracts its CUDA graphs before it sizes the KV cache, as 0.33 does.
    """

    tensor: int = 1
    max_model_len: int | None = None
    gpu_memory_utilization: float = 0.92
    cache: str = "bf16"
    quantization: str | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    enforce_eager: bool = False
    block: int = 16
    engine: str = "v2"
    dtype_bytes: int = 2
    aligned: bool = False
    reserve_graphs: bool = True

    def __post_init__(self) -> None:
        """Check each field.

        Raises:
            EstimateError: a field has an impossible value.
        """
        whole("tensor", self.tensor, most=_MOST_GPUS)
        for name in ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "block"):
            if (value := getattr(self, name)) is not None:
                whole(name, value, most=_MOST_TOKENS)
        share: Any = self.gpu_memory_utilization
        if (
            not isinstance(share, int | float)
            or isinstance(share, bool)
            or not (math.isfinite(share) and 0 < share <= 1)
        ):
            raise EstimateError("gpu_memory_utilization", f"is {share!r}", "give a number above 0, at most 1")
        one_of("cache", self.cache, tuple(KV_DTYPES))
        one_of("engine", self.engine, ENGINES)
        if self.quantization is not None:
            one_of("quantization", self.quantization, QUANTIZATIONS)

    @property
    def kv_bytes(self) -> int:
        """Return the bytes per number in the KV cache."""
        return KV_DTYPES[self.cache]


FIELDS = tuple(
    each.name
    for each in fields(EngineSettings)
    if each.name not in {"engine", "dtype_bytes", "aligned", "reserve_graphs"}
)
"""The fields that the command line sets."""


def batch_defaults(card: int, *, a100: bool) -> tuple[int, int]:
    """Return the default ``max_num_seqs`` and ``max_num_batched_tokens`` of ``vllm serve`` in vLLM 0.33.

    Args:
        card: the card's memory in bytes.
        a100: whether the card is an A100, which keeps the small defaults.
    """
    if card >= _LARGEST_CARD:
        return 1024, 16384
    return (1024, 8192) if card >= _LARGE_CARD and not a100 else (256, 2048)
