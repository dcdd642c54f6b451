# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "dynamic=None" = "dynamic=False" }
# ///
"""torch.compile gives up after eight graphs of one function and runs it uncompiled without an error. Dynamic shapes need two."""

from unittest.mock import patch

import torch
from transformers import LlamaConfig, LlamaModel

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=64,
    hidden_size=64,
    intermediate_size=64,
    num_hidden_layers=1,
    num_attention_heads=2,
)
model = LlamaModel(config).eval()
graphs = []


def count(graph, _):
    """Count the graphs that torch.compile makes, and run them as they are."""
    graphs.append(graph)
    return graph.forward


def compiled_for(lengths, dynamic) -> int:
    """Return the graphs that prompts of these lengths need."""
    torch.compiler.reset()
    graphs.clear()
    forward = torch.compile(model, backend=count, dynamic=dynamic)
    with torch.no_grad():
        for length in lengths:
            forward(torch.zeros(1, length, dtype=torch.long), use_cache=False)
    return len(graphs)


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:measure]
limit = torch._dynamo.config.recompile_limit  # noqa: SLF001
print(f"limit: {limit} graphs per function")
lengths = range(16, 16 + 13)
usual = compiled_for(lengths, dynamic=None)
print(f"13 prompt lengths: {usual} graphs")
# --8<-- [end:measure]
shown = [call.args[0] for call in printed.call_args_list]
fixed = compiled_for(lengths, dynamic=False)
print(f"with dynamic=False: {fixed} graphs, then uncompiled")
assert limit == 8, limit
assert usual == 2, usual
assert len(set(lengths)) == 13, lengths
assert shown == ["limit: 8 graphs per function", "13 prompt lengths: 2 graphs"], (
    shown
)
assert fixed == limit, fixed
