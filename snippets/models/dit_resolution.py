# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "mixed = nn.functional.scaled_dot_product_attention(q, k, v)" = "mixed = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v" }
# ///
"""Twice the side of an image is four times the tokens of a diffusion transformer and sixteen times the FLOPs of its attention. With SDPA, the peak of a denoising step grows with the tokens, and not with their square."""

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import profile
from torch.utils.flop_counter import FlopCounterMode

WIDTH, HEADS = 128, 8


# --8<-- [start:enable]
class Block(nn.Module):
    """A block of a diffusion transformer: attention over all tokens, without a mask or cache."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(
            nn.LayerNorm(WIDTH, eps=1e-6, elementwise_affine=False)
            for _ in range(2)
        )
        # From the time step and the prompt.
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(WIDTH, 6 * WIDTH))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * WIDTH, WIDTH),
        )

    def forward(self, x, condition):
        b1, s1, g1, b2, s2, g2 = self.modulation(condition)[:, None].chunk(
            6, dim=-1
        )
        qkv = self.qkv(self.norms[0](x) * (1 + s1) + b1)
        q, k, v = qkv.unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + g1 * self.out(mixed.transpose(1, 2).flatten(2))
        return x + g2 * self.mlp(self.norms[1](x) * (1 + s2) + b2)


# --8<-- [end:enable]


class Denoiser(nn.Module):
    """Two blocks on latents of an eighth of the image's side, in patches of 2 × 2."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(16, WIDTH, kernel_size=2, stride=2)
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, latents, condition):
        x = self.patches(latents).flatten(2).mT
        for block in self.blocks:
            x = block(x, condition)
        return x


torch.manual_seed(0)
model = Denoiser().eval()
condition = torch.randn(1, WIDTH)


def step(side: int) -> tuple[int, int, int, int]:
    """Return tokens, bytes of the peak, and FLOPs of attention and of the rest."""
    latents = torch.randn(1, 16, side // 8, side // 8)
    with torch.no_grad(), profile(profile_memory=True) as trace:
        tokens = model(latents, condition).shape[1]
    held = most = 0
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    # The math backend has matmuls that the counter knows.
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), counter as flops:
        model(latents, condition)
    counted = flops.get_flop_counts()["Global"]
    linear = sum(
        n
        for op, n in counted.items()
        if str(op) in {"aten.addmm", "aten.convolution"}
    )
    return tokens, most, flops.get_total_flops() - linear, linear


# No mask: in another order, the tokens have the same results in that order.
block, x, order = Block(), torch.randn(1, 64, WIDTH), torch.randperm(64)
with torch.no_grad():
    results, shuffled = block(x, condition), block(x[:, order], condition)
assert torch.allclose(shuffled, results[:, order], atol=1e-5), "the order matters"

small, large = step(384), step(768)
for side, found in ((384, small), (768, large)):
    print(f"{side} × {side}: {found[0]:,} tokens, peak {found[1] / 2**20:.0f} MiB")
    print(
        f"  attention {found[2] / 1e9:.1f} GFLOP, the rest {found[3] / 1e9:.1f} GFLOP"
    )

assert small[0] == (384 // 16) ** 2
assert large[0] == 4 * small[0]
assert large[2] == 16 * small[2] == 16 * 2 * 4 * small[0] ** 2 * WIDTH
assert 3.9 < large[3] / small[3] < 4.1, f"{large[3] / small[3]}"
scores = HEADS * large[0] ** 2 * 4
assert large[1] < 5 * small[1], f"{large[1] / small[1]:.1f} times the peak"
assert large[1] < scores, "the scores of a layer are in the peak"
