# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# no_ablation = "it measures, and changes nothing"
# ///
"""Time to first token and time between tokens of generate(), by a streamer. Never only the mean: the first token contains the prefill."""

from itertools import pairwise
from time import perf_counter
from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.generation import BaseStreamer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint)
inputs = tokenizer("How fast? " * 50, return_tensors="pt")
with torch.no_grad():  # its first token would end a sequence of any length
    model.generation_config.eos_token_id = int(
        model(**inputs).logits[0, -1].argmax()
    )


computed = []  # the tokens of each forward pass
model.model.embed_tokens.register_forward_hook(
    lambda *call: computed.append(call[2].shape[1])
)
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:measure]
class Clock(BaseStreamer):
    """Note the time of each token. generate() first puts the prompt."""

    def __init__(self):
        self.times = []

    def put(self, value):
        """Note when a token is on the CPU: generate() copies it there first."""
        self.times.append(perf_counter())

    def end(self):
        """Do nothing: generate() calls it at the end."""


def latency(new_tokens: int = 32) -> tuple[float, list[float]]:
    """Return the seconds to the first token and those between tokens."""
    clock = Clock()
    model.generate(
        **inputs,
        max_new_tokens=new_tokens,
        min_new_tokens=new_tokens,
        do_sample=False,
        streamer=clock,
    )
    start, *tokens = clock.times
    gaps = [b - a for a, b in pairwise(tokens)]
    return tokens[0] - start, gaps


latency()  # warm up: kernels, allocator, compilation
first, gaps = latency()
middle = sorted(gaps)[len(gaps) // 2]
print(
    f"time to first token is {first / middle:.1f} times the median between tokens"
)
print(f"the slowest token took {max(gaps) / middle:.1f} times the median")
# --8<-- [end:measure]

assert len(gaps) == 31, len(gaps)
assert first > 0 < min(gaps)
assert len(computed) == 2 * 32, "no warm-up"
below, above = sorted(gaps)[:15], sorted(gaps)[16:]
assert max(below) <= middle <= min(above), "not the median"
shown = [call.args[0] for call in printed.call_args_list]
assert f" is {first / middle:.1f} times " in shown[0], shown
assert f" took {above[-1] / middle:.1f} times " in shown[1], shown


# With computed tokens as the clock: the prefill before the first token, and one token between tokens.
def perf_counter():  # noqa: F811
    return sum(computed)


assert latency() == (inputs["input_ids"].shape[1], [1] * 31)
