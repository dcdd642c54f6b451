# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "with_prompt, without = (model(latents, each) for each in (prompt, empty))" = "with_prompt, without = model(latents.repeat(2, 1, 1), torch.cat([prompt, empty])).chunk(2)" }
# ///
"""Classifier-free guidance runs the model on twice the batch. Two passes, one after the other, give the same result and the same FLOPs, with the activations of one."""

import torch
from torch import nn
from torch.profiler import profile
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
WIDTH, IMAGE, TEXT = 128, 1024, 64


class Denoiser(nn.Module):
    """Attention over image and text tokens together, as in Flux and SD3.5."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, latents, prompt):
        return self.layers(torch.cat([prompt, latents], dim=1))[
            :, prompt.shape[1] :
        ]


model = Denoiser().eval()
latents = torch.randn(2, IMAGE, WIDTH)
prompt, empty = torch.randn(2, TEXT, WIDTH), torch.zeros(2, TEXT, WIDTH)


def guided_in_one_batch(latents, prompt, empty, scale):
    both = model(torch.cat([latents, latents]), torch.cat([prompt, empty]))
    with_prompt, without = both.chunk(2)
    return without + scale * (with_prompt - without)


# --8<-- [start:enable]
def guided(latents, prompt, empty, scale):
    if scale == 1:  # no guidance: one pass is enough
        return model(latents, prompt)
    with_prompt, without = (model(latents, each) for each in (prompt, empty))
    return without + scale * (with_prompt - without)


# --8<-- [end:enable]


def cost(function, scale=4.5):
    """Return the result, the bytes of the peak and the FLOPs."""
    with torch.no_grad(), profile(profile_memory=True) as trace:
        result = function(latents, prompt, empty, scale)
    held = most = 0
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    with torch.no_grad(), FlopCounterMode(display=False) as flops:
        function(latents, prompt, empty, scale)
    return result, most, flops.get_total_flops()


torch.backends.mha.set_fastpath_enabled(
    value=False
)  # operations that can be counted
together, peak_together, flops_together = cost(guided_in_one_batch)
apart, peak_apart, flops_apart = cost(guided)
plain, peak_plain, flops_plain = cost(guided, scale=1)
print(
    f"peak: one batch {peak_together / 2**20:.0f} MiB, two passes {peak_apart / 2**20:.0f} MiB"
)
print(f"FLOPs of guidance: {flops_apart / flops_plain:.1f} times those of one pass")

assert torch.allclose(apart, together, rtol=1e-4, atol=1e-4)
weak, _, _ = cost(guided, scale=0.5)
both, _, _ = cost(guided_in_one_batch, scale=0.5)
assert torch.allclose(weak, both, rtol=1e-4, atol=1e-4), "another weak guidance"
with torch.no_grad():
    unguided = guided_in_one_batch(latents, prompt, empty, scale=1)
assert torch.allclose(plain, unguided, rtol=1e-4, atol=1e-4), "not the prompt's"
assert (plain - together).abs().max() > 0.1, "guidance changes nothing"
assert flops_apart == flops_together == 2 * flops_plain
assert peak_together > 1.8 * peak_plain, "the doubled batch does not show"
assert peak_apart < 0.7 * peak_together, (
    f"{peak_apart / peak_together:.2f} of the peak"
)
