# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["facebook/wav2vec2-base-960h"]
# ablation = { "sorted(seconds)" = "list(seconds)" }
# ///
"""wav2vec2 has about 50 frames per second of audio, and a batch is as long as its longest clip. Batches of similar length compute fewer frames."""

from unittest.mock import patch

import torch
from transformers import AutoModelForCTC

checkpoint = "facebook/wav2vec2-base-960h"
model = AutoModelForCTC.from_pretrained(checkpoint, attn_implementation="eager")
model.eval()
config = model.config
seconds = [1 + 7 * index % 16 for index in range(64)]

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:count]
def frames(samples: int) -> int:
    """Return the frames of a clip at 16 kHz, of which attention has the square."""
    for kernel, stride in zip(config.conv_kernel, config.conv_stride, strict=True):
        samples = (samples - kernel) // stride + 1
    return samples


def computed(clips: list[int], size: int = 8) -> int:
    """Return the frames of all batches, each padded to its longest clip."""
    batches = [clips[start : start + size] for start in range(0, len(clips), size)]
    return sum(len(batch) * frames(16_000 * max(batch)) for batch in batches)


by_length, as_stored = computed(sorted(seconds)), computed(list(seconds))
print(f"frames: {as_stored} as stored, {by_length} by length")
# --8<-- [end:count]
shown = printed.call_args.args[0]

# The proof: the model's own frames and scores.
for length in (1, 3):
    with torch.no_grad():
        out = model(
            torch.randn(2, 16_000 * length),
            output_attentions=True,
        )
    count = frames(16_000 * length)
    assert out.logits.shape[1] == count, (out.logits.shape, count)
    assert out.attentions[0].shape == (2, config.num_attention_heads, count, count)
    assert count == 50 * length - 1, count
real = sum(frames(16_000 * each) for each in seconds)
assert real < by_length < 0.75 * as_stored, (real, by_length, as_stored)
assert shown == f"frames: {as_stored} as stored, {by_length} by length"

# A frozen feature encoder saves nothing.
model.train()
model.freeze_feature_encoder()
features = model.wav2vec2.feature_extractor(torch.randn(1, 16_000))
assert not features.requires_grad
