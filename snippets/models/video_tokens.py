# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "(frames - 1) // time + 1" = "frames // time" }
# ///
"""The tokens of a clip follow from its frames and pixels, the strides of the VAE and the patch. Their number and the sizes of a layer give attention's share of the FLOPs."""

# --8<-- [start:count]
from math import prod


def video_tokens(frames, height, width, vae=(4, 8, 8), patch=(1, 2, 2)):
    """Count the tokens. The VAE keeps the first frame, and merges groups of others."""
    time, rows, columns = vae
    latents = ((frames - 1) // time + 1, height // rows, width // columns)
    return prod(size // step for size, step in zip(latents, patch, strict=True))


def attention_share(tokens, hidden, ffn):
    """Return the share of scores, and of scores times values, in a layer of Wan."""
    attention = 4 * hidden * tokens
    linear = 2 * (6 * hidden**2 + 2 * hidden * ffn)
    return attention / (attention + linear)


tokens = video_tokens(frames=81, height=720, width=1280)
share = attention_share(tokens, hidden=5120, ffn=13_824)
print(f"{tokens:,} tokens, attention {share:.0%} of the FLOPs")
# --8<-- [end:count]

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

torch.set_default_device("meta")  # shapes without data


def counted(frames, height, width, vae=(4, 8, 8), patch=(1, 2, 2)):
    """Count the tokens with convolutions of these strides. In time, a frame sees no later ones."""
    clip = torch.empty(1, 1, frames, height, width)
    halve = nn.Sequential(
        nn.ZeroPad3d((0, 0, 0, 0, 2, 0)), nn.Conv3d(1, 1, (3, 1, 1), (2, 1, 1))
    )
    for _ in range(vae[0].bit_length() - 1):
        clip = halve(clip)
    latents = nn.Conv3d(1, 16, (1, *vae[1:]), (1, *vae[1:]))(clip)
    return nn.Conv3d(16, 8, patch, patch)(latents).flatten(2).shape[2]


class Layer(nn.Module):
    """The matmuls of a layer of Wan on the video's tokens."""

    def __init__(self, hidden, ffn, heads):
        super().__init__()
        self.heads = heads
        self.linear = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(6))
        self.mlp = nn.Sequential(
            nn.Linear(hidden, ffn), nn.GELU(), nn.Linear(ffn, hidden)
        )

    def forward(self, x):
        q, k, v = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.linear[:3]
        )
        mixed = (q @ k.mT).softmax(-1) @ v
        x = x + self.linear[3](mixed.transpose(1, 2).flatten(2))
        x = x + self.linear[5](self.linear[4](x))  # to and from the text
        return x + self.mlp(x)


clips = {
    "Wan 2.1 14B, 480 × 832": ((81, 480, 832), {}),
    "Wan 2.1 14B, 720 × 1280": ((81, 720, 1280), {}),
    "Wan 2.2 5B": ((121, 704, 1280), {"vae": (4, 16, 16)}),
    "HunyuanVideo": ((129, 720, 1280), {}),
    "LTX-Video": ((121, 704, 1280), {"vae": (8, 32, 32), "patch": (1, 1, 1)}),
}
found = {name: video_tokens(*sizes, **how) for name, (sizes, how) in clips.items()}
for name, (sizes, how) in clips.items():
    print(f"{name}: {found[name]:,} tokens")
    assert found[name] == counted(*sizes, **how), f"{name}: {found[name]}"
assert tokens == found["Wan 2.1 14B, 720 × 1280"]
assert video_tokens(1, 720, 1280) == 45 * 80, "an image"

for hidden, ffn, heads, name in (
    (5120, 13_824, 40, "Wan 2.1 14B, 480 × 832"),
    (5120, 13_824, 40, "Wan 2.1 14B, 720 × 1280"),
    (3072, 14_336, 24, "Wan 2.2 5B"),
):
    with FlopCounterMode(display=False) as flops:
        Layer(hidden, ffn, heads)(torch.empty(1, found[name], hidden))
    by_name = flops.get_flop_counts()["Global"]
    attention = by_name[torch.ops.aten.bmm]
    expected = attention_share(found[name], hidden, ffn)
    assert abs(attention / flops.get_total_flops() - expected) < 1e-9, name
    longest = 3 * hidden + ffn
    assert abs(attention_share(longest, hidden, ffn) - 0.5) < 1e-9
