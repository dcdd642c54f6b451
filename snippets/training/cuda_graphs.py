# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# needs = ["cuda"]
# timeout = 120
# ablation = { "block = torch.cuda.make_graphed_callables(block, (sample,))" = "pass" }
# ///
"""make_graphed_callables replays the forward and the backward pass of a block with one launch each, and gives the same gradients."""

import torch
from torch import nn
from torch.profiler import profile

torch.manual_seed(0)
batch, tokens, hidden = 8, 256, 512
block = nn.TransformerEncoderLayer(hidden, 8, dropout=0.0, batch_first=True).cuda()
inputs = torch.randn(batch, tokens, hidden, device="cuda", requires_grad=True)
block(inputs).square().mean().backward()
expected = [weight.grad.clone() for weight in block.parameters()]
expected_input = inputs.grad.clone()
block.zero_grad()
inputs.grad = None

# --8<-- [start:enable]
# The sample has the shape, type and requires_grad of each later input.
sample = torch.randn(batch, tokens, hidden, device="cuda", requires_grad=True)
block = torch.cuda.make_graphed_callables(block, (sample,))
# --8<-- [end:enable]


def step():
    block(inputs).square().mean().backward()


step()
gradients = [weight.grad.clone() for weight in block.parameters()]

# --8<-- [start:is-it-on]
with profile() as trace:
    step()
calls = {row.key: row.count for row in trace.key_averages()}
print(calls.get("cudaGraphLaunch", 0), "graph launches")  # 2: forward and backward
# --8<-- [end:is-it-on]

# The proof: two graphs ran, and the first step's gradients are those without a graph.
assert calls.get("cudaGraphLaunch", 0) == 2, calls
assert torch.allclose(inputs.grad / 2, expected_input, rtol=1e-2, atol=1e-5)
for found, wanted in zip(gradients, expected, strict=True):
    assert torch.allclose(found, wanted, rtol=1e-2, atol=1e-5), "another gradient"
# Another shape does not fit the graph.
refused = False
try:
    block(inputs[:4])
except (RuntimeError, AssertionError):
    refused = True
assert refused, "a graph took a batch of another shape"
