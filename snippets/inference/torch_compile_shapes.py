# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "multiple=16" = "multiple=None" }
# ///
"""torch.compile makes one graph per length if shapes are static, and one graph in all if prompts are padded to one length."""

from time import perf_counter

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
prompts = [" of" * count for count in (5, 7, 9, 11)]


def graphs_for(*, multiple, dynamic):
    """Count the graphs that torch.compile makes for the prompts, one after another."""
    graphs = []

    def count(graph, _):
        graphs.append(graph)
        return graph.forward

    torch.compiler.reset()
    forward = torch.compile(model.forward, backend=count, dynamic=dynamic)
    for prompt in prompts:
        inputs = tokenizer(
            [prompt], return_tensors="pt", padding=True, pad_to_multiple_of=multiple
        )
        with torch.no_grad():
            logits = forward(**inputs, use_cache=False).logits
            expected = model(**inputs, use_cache=False).logits
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)
    return len(graphs)


# --8<-- [start:enable]
counts = {
    "one graph per shape": graphs_for(multiple=None, dynamic=False),
    "default": graphs_for(multiple=None, dynamic=None),
    "padded": graphs_for(dynamic=False, multiple=16),
}
# --8<-- [end:enable]
print(counts)
assert counts["one graph per shape"] == 4, counts
assert counts["default"] == 2, counts
assert counts["padded"] == 1, counts

# The times of the default backend: the second length is compiled again, for any length, and the third is not.
torch.compiler.reset()
forward = torch.compile(model.forward)


def seconds(prompt: str) -> float:
    """The time of one pass over a prompt."""
    inputs = tokenizer([prompt], return_tensors="pt")
    start = perf_counter()
    with torch.no_grad():
        forward(**inputs, use_cache=False)
    return perf_counter() - start


names = ("first call", "again", "second length", "third length")
times = [seconds(prompts[i]) for i in (0, 0, 1, 2)]
print("; ".join(f"{n}: {time:.3g} s" for n, time in zip(names, times, strict=True)))
