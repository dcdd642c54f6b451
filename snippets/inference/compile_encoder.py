# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["BAAI/bge-base-en-v1.5"]
# timeout = 120
# ablation = { "model.compile(dynamic=True, backend" = "torch.compile(model, dynamic=True, backend" }
# ///
"""model.compile(dynamic=True) compiles an encoder in place, as one graph for texts of all lengths."""

import torch
from transformers import AutoModel

checkpoint = "BAAI/bge-base-en-v1.5"
graphs = []


def count(graph, _):
    """Count the graphs that torch.compile makes, and run them as they are."""
    graphs.append(graph)
    return graph.forward


# --8<-- [start:enable]
model = AutoModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
model.compile(dynamic=True, backend=count)  # count is for our test: leave it out
# --8<-- [end:enable]

plain = AutoModel.from_pretrained(checkpoint, dtype=torch.float32).eval()
with torch.no_grad():
    for length in (12, 20, 33, 47):
        tokens = torch.randint(5, 90, (2, length))
        ours = model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
        usual = plain(input_ids=tokens, attention_mask=torch.ones_like(tokens))
        apart = (ours.last_hidden_state - usual.last_hidden_state).abs().max()
        assert apart < 1e-5, f"the outputs differ by {apart:.1e}"
print(f"4 lengths: {len(graphs)} graph")
assert len(graphs) == 1, f"{len(graphs)} graphs"
