# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "and_masks(causal, same_document, window)" = "and_masks(causal, window)" }
# ///
"""A FlexAttention block mask keeps packed documents apart within a sliding window, and skips the blocks of the mask that are empty."""

import warnings
from unittest.mock import patch

import torch
from torch.nn.attention.flex_attention import (
    and_masks,
    create_block_mask,
    flex_attention,
)
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import profile

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
tokens, heads, size, wide = 1024, 4, 16, 384
lengths = torch.tensor([400, 120, 504], device=device)  # of three documents
query, key, value = (
    torch.randn(1, heads, tokens, size, device=device) for _ in range(3)
)

# --8<-- [start:enable]
document = torch.repeat_interleave(
    torch.arange(len(lengths), device=device), lengths
)


def causal(_batch, _head, q, kv):
    return q >= kv


def same_document(_batch, _head, q, kv):
    return document[q] == document[kv]


def window(_batch, _head, q, kv):
    return q - kv < wide


mask = create_block_mask(
    and_masks(causal, same_document, window),
    B=None,  # the same mask for each row of the batch and each head
    H=None,
    Q_LEN=tokens,
    KV_LEN=tokens,
    device=device,
)  # once per batch, and not once per layer
attend = torch.compile(flex_attention) if device == "cuda" else flex_attention
with torch.no_grad():  # on a CPU, FlexAttention has no backward pass
    output = attend(query, key, value, block_mask=mask)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
changed = key.clone()
changed[:, :, : lengths[0]] *= 2  # keys of the first document
with torch.no_grad():
    moved = (attend(query, changed, value, block_mask=mask) - output).abs()
print(
    f"the first document moves by {moved[:, :, : lengths[0]].max():.2f},", end=" "
)
print(f"the others by {moved[:, :, lengths[0] :].max():.2f}")  # 0.00
print(f"{mask.sparsity():.0f} % of the blocks are skipped")
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

# The proof: SDPA with a dense mask of the same pairs gives the same result, and no document sees another.
place = torch.arange(tokens, device=device)
ahead = place[:, None] - place
dense = (ahead >= 0) & (ahead < wide) & (document[:, None] == document)
expected = scaled_dot_product_attention(query, key, value, attn_mask=dense)
assert torch.allclose(output, expected, atol=1e-2 if device == "cuda" else 1e-5), (
    f"{(output - expected).abs().max():.3f} away from SDPA"
)
assert moved[:, :, : lengths[0]].max() > 0.01, (
    "the change of the keys has no effect"
)
assert not moved[:, :, lengths[0] :].any(), "a document sees another"

# Each empty block of 128 × 128 pairs is skipped, and no other.
blocks = dense.view(8, 128, 8, 128).any(3).any(1)
skipped = 100 * (1 - blocks.float().mean().item())
assert mask.sparsity() == skipped, mask

# What is printed: how far SDPA moves by the same change, and the share of the blocks.
doubled = torch.where(place[:, None] < 400, 2 * key, key)
assert changed.equal(doubled), "other keys were changed than the first document's"
other = scaled_dot_product_attention(query, doubled, value, attn_mask=dense)
far = (other - expected)[:, :, :400].abs().max().item()
words, figure = shown[0].rsplit(" ", 1)
assert words == "the first document moves by", f"printed was {shown}"
assert abs(float(figure.strip(",")) - far) < 0.02, f"{figure} and not {far}"
end = f"{skipped:.0f} % of the blocks are skipped"
assert shown[1:] == ["the others by 0.00", end], f"printed was {shown}"

causal_blocks = (ahead >= 0).view(8, 128, 8, 128).any(3).any(1)
assert blocks.sum() < causal_blocks.sum(), "documents and window remove no block"

# Not compiled, it computes the scores of all pairs, also those that the mask removes.
with (
    torch.no_grad(),
    warnings.catch_warnings(record=True) as caught,
    profile(record_shapes=True) as trace,
):
    warnings.simplefilter("always")
    flex_attention(query, key, value, block_mask=mask)
rows = trace.key_averages(group_by_input_shape=True)
shapes = [shape for row in rows for shape in row.input_shapes]
assert [1, heads, tokens, tokens] in shapes, "no scores of tokens × tokens"
