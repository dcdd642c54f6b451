"""Bytes of the weights that vLLM loads on one GPU, in 16 bits or quantized."""

from collections.abc import Mapping
from fractions import Fraction

from headroom.memory.architecture import Architecture
from headroom.memory.job import Job
from headroom.memory.vllm.kv_blocks import gpu_symbols
from headroom.memory.vllm.settings import EngineSettings
from headroom.memory.weights import OUTSIDE, Tensor, base_tensors

_BYTES: Mapping[str, Fraction] = {
    "fp8": 1 + Fraction(4, 128 * 128),  # an fp32 scale per block of 128 x 128 weights
    "awq": Fraction(1, 2) + Fraction(2, 128) + Fraction(1, 2 * 128),  # fp16 scale and 4-bit zero per 128 weights
    "gptq": Fraction(1, 2) + Fraction(2, 128) + Fraction(1, 2 * 128),
    "nf4": Fraction(1, 2) + Fraction(1, 64) + Fraction(4, 64 * 256),  # as bitsandbytes' double quantization
    "mxfp4": Fraction(1, 2) + Fraction(1, 32),  # a scale of 1 byte per 32 weights
    "gguf-q8_0": 1 + Fraction(2, 32),  # an fp16 scale per 32 weights
}
_PADDED = {"hidden": 256, "intermediate": 128}
"""To what the Marlin kernel of MXFP4 rounds an expert's sizes.

Source: https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/model_executor/layers/fused_moe/oracle/mxfp4.py,
``mxfp4_round_up_hidden_size_and_intermediate_size``.
"""


def gpu_weight_bytes(architecture: Architecture, settings: EngineSettings) -> int:
    """Return the bytes of the weights on one GPU.

    Linear layers, experts, the embedding and the LM head are divided over the GPUs of tensor parallelism; norms and
    routers are not.

    Raises:
        EstimateError: the GPUs do not divide the heads or an intermediate size.
    """
    symbols = gpu_symbols(architecture, settings.tensor)
    sizes = {
        group: sum(
            _tensor_bytes(each, group, symbols, settings) for each in base_tensors(architecture, symbols, Job(), group)
        )
        for group in {*architecture.kinds, OUTSIDE}
    }
    return int(sum(sizes[group] for group in (*architecture.kinds, OUTSIDE))) + _rotary_bytes(architecture, settings)


def _rotary_bytes(architecture: Architecture, settings: EngineSettings) -> int:
    """Return the bytes of the table of cosines and sines that all layers share; learned positions have none.

    Source: https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/model_executor/layers/rotary_embedding/base.py,
    ``_compute_cos_sin_cache``.
    """
    positions = architecture.config.get("max_position_embeddings")
    if "P" in architecture.symbols or "d" not in architecture.symbols or not isinstance(positions, int):
        return 0
    return positions * architecture.symbols["d"] * settings.dtype_bytes


def _tensor_bytes(tensor: Tensor, group: str, symbols: Mapping[str, int], settings: EngineSettings) -> Fraction:
    name = settings.quantization
    if name is None or not _is_quantized(tensor, group, name):
        return Fraction(settings.dtype_bytes * tensor.elements)
    padding = _padding(symbols) if name == "mxfp4" else Fraction(1)
    return _BYTES[name] * tensor.elements * padding


def _is_quantized(tensor: Tensor, group: str, name: str) -> bool:
    """Return whether a format stores a tensor: GGUF all matrices, MXFP4 experts, the others all layers' matrices."""
    if name == "gguf-q8_0":
        return len(tensor.shape) > 1
    return tensor.kind == "expert" or (name != "mxfp4" and tensor.kind == "linear" and group != OUTSIDE)


def _padding(symbols: Mapping[str, int]) -> Fraction:
    """Return by how much the rounded sizes of an expert's matrices exceed the real ones."""
    hidden, wide = symbols["h"], symbols.get("m", symbols["f"])
    rounded = _round_up(hidden, _PADDED["hidden"]) * _round_up(wide, _PADDED["intermediate"])
    return Fraction(rounded, hidden * wide)


def _round_up(size: int, step: int) -> int:
    return -(-size // step) * step
