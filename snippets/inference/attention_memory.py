# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { '"sdpa": "sdpa"' = '"sdpa": "eager"' }
# ///
# ruff: noqa: E402
"""The peak memory of a layer's forward pass: with eager attention it grows with the square of the prompt, with SDPA not."""

from unittest.mock import patch

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:measure]
import torch
from torch.profiler import profile
from transformers import LlamaConfig, LlamaModel

SHAPE = {
    "vocab_size": 64,
    "hidden_size": 256,
    "intermediate_size": 256,
    "num_hidden_layers": 1,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}


def peak(attention: str, tokens: int) -> int:
    """Return the peak of what a forward pass allocates."""
    model = LlamaModel(LlamaConfig(**SHAPE, attn_implementation=attention)).eval()
    with torch.no_grad(), profile(profile_memory=True) as trace:
        model(torch.zeros(1, tokens, dtype=torch.long), use_cache=False)
    held = most = 0
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


found = {}
for name, attention in {"eager": "eager", "sdpa": "sdpa"}.items():
    found[name] = [peak(attention, tokens) for tokens in (512, 1024, 2048)]
    print(name, [f"{each / 2**20:.1f} MiB" for each in found[name]])
# --8<-- [end:measure]

shown = [call.args for call in printed.call_args_list]
lines = [
    (name, [f"{bytes_ / 2**20:.1f} MiB" for bytes_ in peaks])
    for name, peaks in found.items()
]
assert shown == lines, f"printed was {shown}"
# Twice the tokens: about four times the memory with eager attention, about twice with SDPA.
assert (
    found["eager"][2]
    > 3.5 * found["eager"][1]
    > 3.3 * 3.5 * found["eager"][0] * 0.9
)
assert found["sdpa"][2] < 2.2 * found["sdpa"][1]
# The scores of all heads, in fp32, are in the eager peak.
assert found["eager"][2] > 8 * 2048**2 * 4
assert found["sdpa"][2] < 8 * 2048**2 * 4
