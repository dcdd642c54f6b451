# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "@torch.no_grad()" = "@torch.enable_grad()" }
# ///
"""A loss that is kept without backward keeps its whole graph with all saved activations. A loss computed without a graph keeps one number."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).to(
    device
)
batch = tokenizer(
    ["Keep a loss and you keep its graph. " * 4] * 4, return_tensors="pt"
).to(device)
batch["labels"] = batch["input_ids"]

# --8<-- [start:enable]
losses = []


@torch.no_grad()
def evaluate(batch):
    losses.append(model(**batch).loss)


# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def grown(step, times=3):
    """Bytes that every further call leaves allocated."""
    step()
    with profile(profile_memory=True) as trace:
        for _ in range(times):
            step()
    rows = trace.key_averages()
    left = sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage for row in rows
    )
    return left / times


print(f"{grown(lambda: evaluate(batch)):,.0f} bytes more with every batch")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: one number a batch; on a GPU, the allocator's smallest block.
left = grown(lambda: evaluate(batch))
smallest, largest = (4, 512) if device == "cuda" else (4, 4)
assert smallest <= left <= largest, f"every batch leaves {left} bytes behind"
assert shown == f"{left:.0f} bytes more with every batch", f"printed was {shown}"

# What only the first call leaves is not counted.
first = []
once = grown(lambda: first or first.append(torch.empty(10**6, device=device)))
assert once == 0, f"{once} bytes, which only the first call leaves"

# With a graph: at least the inputs of all layers, four a block, one of them four times as wide.
config, numbers = model.config, batch["input_ids"].numel()
whole = grown(lambda: losses.append(model(**batch).loss))
activations = 4 * numbers * config.n_embd * 7 * config.n_layer
assert whole > activations, f"a loss with its graph leaves {whole} bytes"


# In training, backward has freed what the graph held: a kept loss is a number, and kept outputs are not.
kept = []


def train(keep):
    outputs = model(**batch)
    outputs.loss.backward()
    model.zero_grad(set_to_none=True)
    kept.append(keep(outputs))


of_loss = grown(lambda: train(lambda outputs: outputs.loss))
of_outputs = grown(lambda: train(lambda outputs: outputs))
logits = 4 * numbers * config.vocab_size
cache = 4 * numbers * config.n_layer * 2 * config.n_embd
print(f"kept losses: {of_loss:,.0f} bytes a step, outputs: {of_outputs:,.0f}")
assert of_loss <= 512, f"a kept loss holds {of_loss} bytes after backward"
assert logits + cache <= of_outputs < 1.05 * (logits + cache) + 10_000
