"""Bytes of the KV cache: full, sliding-window and latent attention, static and quantized caches."""

from collections.abc import Mapping
from fractions import Fraction

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError

BYTES = {"fp32": Fraction(4), "bf16": Fraction(2), "int8": Fraction(1), "int4": Fraction(1, 2), "int2": Fraction(1, 4)}
_GROUP, _GROUP_BYTES, _RESIDUAL = 64, 4, 128
"""A quantized cache of transformers: 2 bytes each of scale and zero point per 64 values; 128 tokens stay in 16 bits."""

_FULL_EVERY = {"gemma2": 2, "gemma3_text": 6, "gpt_oss": 2, "cohere2": 4}
"""Every how many layers transformers' configurations have full attention if they list no layer_types."""


def cache_bytes(
    architecture: Architecture,
    symbols: Mapping[str, int],
    context: int,
    dtype: str = "bf16",
    *,
    static: int | None = None,
) -> int:
    """Return the bytes of the KV cache of all layers.

    Args:
        architecture: the model's shape.
        symbols: the symbols of one GPU, with the batch ``B`` and the derived ones.
        context: the tokens in the cache.
        dtype: the data type of keys and values.
        static: for a static cache, the tokens that it has room for.

    Raises:
        EstimateError: a layer keeps a state that is no cache of keys and values.
    """
    numbers = numbers_per_token(architecture, symbols) * symbols["B"]
    layers = range(len(architecture.kinds))
    if static is None:
        return sum(token_bytes(kept_tokens(architecture, layer, context), numbers, dtype) for layer in layers)
    windows = [window_of(architecture, layer) or static for layer in layers]
    return sum(token_bytes(min(static, window), numbers, dtype) for window in windows)


def token_bytes(tokens: int, numbers: int, dtype: str) -> int:
    """Return the bytes of some numbers for each of the cached tokens."""
    if not dtype.startswith("int"):
        return int(numbers * tokens * BYTES[dtype])
    whole = min(tokens, _RESIDUAL)
    return int(numbers * ((tokens - whole) * (BYTES[dtype] + Fraction(_GROUP_BYTES, _GROUP)) + 2 * whole))


def numbers_per_token(architecture: Architecture, symbols: Mapping[str, int]) -> int:
    """Return the numbers that a layer caches per token: for latent attention, the latent vector and one rotary key."""
    config = architecture.config
    if config.get("kv_lora_rank") is None:
        return 2 * symbols.get("kv", symbols["a"]) * symbols["d"]
    return int(config["kv_lora_rank"]) + int(config["qk_rope_head_dim"])


def kept_tokens(architecture: Architecture, layer: int, tokens: int) -> int:
    """Return how many tokens a dynamic cache keeps in a layer: at most one less than its sliding window.

    Raises:
        EstimateError: the layer keeps a state that is no cache of keys and values.
    """
    kind, window = _attention_kind(architecture, layer), architecture.config.get("sliding_window")
    if kind == "full_attention":
        return tokens
    if kind != "sliding_attention" or not isinstance(window, int):
        raise EstimateError("layer_types", f"has {kind!r}", "only full_attention and sliding_attention have a KV cache")
    return min(tokens, window - 1)


def window_of(architecture: Architecture, layer: int) -> int | None:
    """Return the tokens of a layer's sliding window; None if it has none."""
    window = architecture.config.get("sliding_window")
    return window if isinstance(window, int) and _attention_kind(architecture, layer) == "sliding_attention" else None


def _attention_kind(architecture: Architecture, layer: int) -> object:
    """Return the kind of attention of a layer: as listed, every nth full, or all with a window if there is one."""
    config = architecture.config
    listed = config.get("layer_types")
    if isinstance(listed, list | tuple) and len(listed) > layer:
        return listed[layer]
    if not config.get("sliding_window") or config.get("use_sliding_window") is False:
        return "full_attention"
    every = config.get("sliding_window_pattern") or _FULL_EVERY.get(str(config.get("model_type")))
    return "full_attention" if isinstance(every, int) and (layer + 1) % every == 0 else "sliding_attention"
