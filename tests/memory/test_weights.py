"""Bytes of 4-bit and 8-bit weights, of adapters, of KV caches, and of Liger's loss."""

import subprocess
import sys
from pathlib import Path

import pytest

from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.cache import cache_bytes
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import estimate
from headroom.memory.loss import liger_chunk
from headroom.memory.weight_formats import allocated, four_bit, quantized_bytes, temporary_bytes
from llama_coefficients import LLAMA_1B, LLAMA_8B

QUANTIZED = """
import sys, torch
from bitsandbytes.functional import quantize_4bit
rows, columns = map(int, sys.argv[1:])
packed, state = quantize_4bit(torch.randn(rows, columns), quant_type="nf4", compress_statistics=True)
scales = state.state2
tensors = [packed, state.absmax, scales.absmax, state.code, scales.code, state.offset]
print(sum(-(-each.numel() * each.element_size() // 512) * 512 for each in tensors))
"""

EIGHT_BITS = """
import sys, torch
from bitsandbytes.functional import int8_vectorwise_quant
from transformers.integrations.finegrained_fp8 import FP8Linear
rows, columns = map(int, sys.argv[1:])
values, scales, _ = int8_vectorwise_quant(torch.randn(rows, columns, dtype=torch.float16))
layer = FP8Linear(columns, rows, block_size=(128, 128))
for tensors in ([values, scales], [layer.weight, layer.weight_scale_inv]):
    print(sum(-(-each.numel() * each.element_size() // 512) * 512 for each in tensors))
"""


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(64, 64), (1000, 100), (2048, 8192)])
def test_eight_bit_weights_are_those_of_bitsandbytes_and_transformers(shape: tuple[int, int]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", EIGHT_BITS, *map(str, shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [quantized_bytes(shape, name) for name in ("int8", "fp8")] == [*map(int, done.stdout.split()[-2:])]


def test_weights_of_awq_and_gptq_are_packed_in_int32_with_scales_in_fp16() -> None:
    """qweight, qzeros and scales of a checkpoint with groups of 128, for an input of 4,096 and an output of 14,336."""
    wide, narrow, group = 14_336, 4_096, 128
    packed, zeros, scales = 4 * narrow * wide // 8, 4 * (narrow // group) * wide // 8, 2 * (narrow // group) * wide
    assert quantized_bytes((wide, narrow), "int4") == packed + zeros + scales
    assert quantized_bytes((8, wide, narrow), "int4") == 8 * (packed + zeros + scales)


def test_a_quantized_layer_allocates_its_copy_or_its_quantized_input() -> None:
    shapes = [(14_336, 4_096), (4_096, 14_336)]
    assert temporary_bytes(shapes, 512, 2, "nf4") == 2 * 4_096 * 14_336
    assert temporary_bytes(shapes, 1, 2, "nf4") == 0
    assert temporary_bytes(shapes, 512, 2, "fp8") == 512 * 14_336
    assert temporary_bytes(shapes, 512, 2, "int8") == 512 * (4_096 + 4 * 14_336)


@pytest.mark.parametrize("form", ["nf4", "int8", "fp8", "int4"])
def test_a_prefill_has_the_temporary_memory_of_one_quantized_layer(root: Path, form: str) -> None:
    """The layers of Llama 3.1 8B: queries, keys and values, output, and the three of the MLP."""
    shapes = [(4096, 4096), (1024, 4096), (14_336, 4096), (4096, 14_336)]
    plain, quantized = (
        estimate(LLAMA_8B, root=root, job="prefill", length=512, quantization=each).peak_phase.components[-1]
        for each in ("auto", form)
    )
    assert quantized.bytes - plain.bytes == temporary_bytes(shapes, 512, 2, form) > 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(64, 64), (1000, 100), (2048, 8192)])
def test_four_bit_weights_are_those_of_bitsandbytes(shape: tuple[int, int]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", QUANTIZED, *map(str, shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert four_bit(shape[0] * shape[1]) == int(done.stdout.split()[-1])


def test_large_four_bit_weights_take_0516_bytes_per_parameter() -> None:
    """As the method's record says: 0.5 + 1/64 + 4/64/256."""
    assert four_bit(1 << 28) / (1 << 28) == pytest.approx(0.5159, abs=1e-4)


@pytest.mark.parametrize(("size", "rounded"), [(0, 0), (1, 512), (512, 512), (513, 1024)])
def test_allocations_are_rounded_to_512_bytes(size: int, rounded: int) -> None:
    assert allocated(size) == rounded


def test_adapters_have_rank_times_both_sizes(root: Path) -> None:
    """Peft counts 41,943,040 for Llama 3.1 8B, all linear layers, rank 16."""
    found = {
        targets: sum(
            part.bytes
            for part in estimate(LLAMA_8B, root=root, job="lora", targets=targets).peak_phase.components
            if part.name == "adapters"
        )
        for targets in ("all", "qv")
    }
    assert found == {"all": 4 * 41_943_040, "qv": 4 * 32 * 16 * (2 * 4096 + 4096 + 1024)}


@pytest.fixture
def llama(root: Path) -> Architecture:
    return read_architecture(LLAMA_8B, root)


def _cache(architecture: Architecture, context: int, dtype: str = "bf16", **options: int) -> int:
    return cache_bytes(architecture, {**architecture.symbols, "B": 1}, context, dtype, **options)


def test_cache_of_a_token_is_128_kib(llama: Architecture) -> None:
    assert _cache(llama, 1) == 128 * 1024
    assert _cache(llama, 1000, static=4096) == 4096 * 128 * 1024


@pytest.mark.parametrize(("dtype", "share"), [("int8", 0.53125), ("int4", 0.28125), ("int2", 0.15625)])
def test_quantized_cache_has_scales_and_a_residual(llama: Architecture, dtype: str, share: float) -> None:
    """Per 64 numbers 4 bytes of scale and zero point; the newest 128 tokens stay in 16 bits."""
    whole = _cache(llama, 128)
    assert _cache(llama, 128, dtype) == whole
    assert _cache(llama, 1128, dtype) == pytest.approx(whole + 1000 * 128 * 1024 * share)


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"sliding_window": 4096}, 32 * 4095),
        ({"sliding_window": 4096, "use_sliding_window": False}, 32 * 8192),
        ({"sliding_window": 4096, "sliding_window_pattern": 4}, 24 * 4095 + 8 * 8192),
        ({"sliding_window": 4096, "layer_types": ["sliding_attention", "full_attention"] * 16}, 16 * (4095 + 8192)),
    ],
)
def test_sliding_layers_keep_the_window_without_the_next_token(
    root: Path, fields: dict[str, object], tokens: int
) -> None:
    assert _cache(read_architecture({**LLAMA_8B, **fields}, root), 8192) == tokens * 128 * 1024 // 32


def test_linear_attention_has_no_kv_cache(root: Path) -> None:
    with pytest.raises(EstimateError, match="layer_types has 'linear_attention'"):
        _cache(read_architecture({**LLAMA_8B, "layer_types": ["linear_attention"] * 32}, root), 8192)


def test_latent_cache_has_the_latent_vector_and_one_rotary_key(root: Path) -> None:
    """DeepSeek-V3's sizes: 512 + 64 numbers per token and layer."""
    sizes = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
    model = read_architecture({**LLAMA_8B, **sizes, "num_attention_heads": 128, "num_hidden_layers": 61}, root)
    assert _cache(model, 1) == 61 * 576 * 2


@pytest.mark.parametrize(
    ("tokens", "hidden", "vocabulary", "chunk"),
    [(16384, 4096, 32000, 2048), (4096, 4096, 128256, 128), (1, 64, 128, 1)],
)
def test_liger_divides_the_tokens_as_its_source_does(tokens: int, hidden: int, vocabulary: int, chunk: int) -> None:
    """The first case is the example of the source's comment."""
    assert liger_chunk(tokens, hidden, vocabulary) == chunk


def test_fused_and_chunked_losses_lower_the_peak_of_a_large_batch(root: Path) -> None:
    whole, chunked, fused = (
        estimate(LLAMA_1B, root=root, batch=16, checkpointing=True, loss=loss).peak
        for loss in ("whole", "chunked", "fused")
    )
    assert chunked < 0.5 * whole
    assert fused < 0.5 * whole
