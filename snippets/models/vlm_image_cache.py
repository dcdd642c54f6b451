# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen2.5-VL-7B-Instruct"]
# ablation = { "shrink = math.sqrt(height * width / max_pixels)" = "shrink = 1" }
# ///
"""Image tokens of Qwen2.5-VL are tokens of its KV cache, one per 28 × 28 pixels, and max_pixels bounds them. The vision tower computes four patches per token. Counted in a forward pass."""

import math
from unittest.mock import patch

import torch
from transformers import AutoModelForImageTextToText

checkpoint = "Qwen/Qwen2.5-VL-7B-Instruct"
model = AutoModelForImageTextToText.from_pretrained(checkpoint, dtype=torch.float32)
model.eval()
config = model.config

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:count]
def image_tokens(height: int, width: int, max_pixels: int) -> tuple[int, int]:
    """Return the rows and columns of an image's tokens: one per 28 × 28 pixels."""
    vision = config.vision_config
    side = vision.patch_size * vision.spatial_merge_size
    rows, columns = round(height / side), round(width / side)
    if rows * columns * side**2 > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        rows = max(1, math.floor(height / shrink / side))
        columns = max(1, math.floor(width / shrink / side))
    return rows, columns


def cache_bytes(tokens: int) -> int:
    """Return the bytes of the language model's KV cache, in bf16."""
    text = config.text_config
    head_dim = text.hidden_size // text.num_attention_heads
    return (
        text.num_hidden_layers
        * 2
        * text.num_key_value_heads
        * head_dim
        * tokens
        * 2
    )


for limit in (12_845_056, 1_003_520):  # the checkpoint's own limit, and a lower one
    tokens = math.prod(image_tokens(2160, 3840, max_pixels=limit))
    print(f"a 4K image, max_pixels={limit:,}: {tokens:,} tokens")
# --8<-- [end:count]
shown = [call.args[0] for call in printed.call_args_list]


# The proof: an image of so many patches fills so much of the cache.
def forward(height: int, width: int, max_pixels: int):
    """Return the cache after an image and ten words, and the patches that the tower computed."""
    rows, columns = image_tokens(height, width, max_pixels)
    grid = torch.tensor([[1, 2 * rows, 2 * columns]])
    patches = torch.zeros(4 * rows * columns, 3 * 2 * 14 * 14)
    words = torch.arange(5)
    image = torch.full((rows * columns,), config.image_token_id)
    ids = torch.cat([words, image, words])[None]
    counted = []
    layer = model.model.visual.blocks[0]
    hook = layer.register_forward_pre_hook(
        lambda _, args: counted.append(len(args[0]))
    )
    with torch.no_grad():
        cache = model(
            input_ids=ids,
            pixel_values=patches,
            image_grid_thw=grid,
            mm_token_type_ids=(ids == config.image_token_id).int(),
        ).past_key_values
    hook.remove()
    return cache, counted[0]


for size in ((224, 448), (448, 672)):
    tokens = math.prod(image_tokens(*size, max_pixels=12_845_056))
    cache, patches = forward(*size, max_pixels=12_845_056)
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert cache.get_seq_length() == tokens + 10, (cache.get_seq_length(), tokens)
    assert held == 2 * cache_bytes(tokens + 10), "fp32 here, bf16 in the function"
    assert patches == 4 * tokens, f"{patches} patches"
small, _ = forward(448, 672, max_pixels=224 * 224)
assert small.get_seq_length() <= 64 + 10, (
    f"{small.get_seq_length()} tokens in the cache"
)
large = math.prod(image_tokens(2160, 3840, max_pixels=12_845_056))
# The sides shrink by the root of what is too much, 2.87, and are rounded down.
assert image_tokens(2160, 3840, max_pixels=1_003_520) == (26, 47)
# One token where the rounded sides of four would pass the limit, and never less than one.
assert image_tokens(42, 42, max_pixels=42 * 42) == (1, 1)
assert image_tokens(28, 2800, max_pixels=4 * 28**2) == (1, 20)
assert image_tokens(2800, 28, max_pixels=4 * 28**2) == (20, 1)
assert shown == [
    f"a 4K image, max_pixels=12,845,056: {77 * 137:,} tokens",
    f"a 4K image, max_pixels=1,003,520: {26 * 47:,} tokens",
], f"printed was {shown}"
assert (
    math.prod(image_tokens(2160, 3840, max_pixels=1_003_520))
    <= 1280
    < large
    <= 16384
)
