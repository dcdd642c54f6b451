# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "pipe.model.compile(backend=count)" = "pipe.model = torch.compile(pipe.model, backend=count)" }
# ///
"""model.compile() compiles the model inside a pipeline. The wrapper that torch.compile(model) returns generates with the uncompiled model, without a message."""

import torch
from transformers import pipeline

checkpoint = "HuggingFaceTB/SmolLM2-135M"
graphs = []


def count(graph, _):
    """Count the graphs that torch.compile makes, and run them as they are."""
    graphs.append(graph)
    return graph.forward


settings = {"max_new_tokens": 4, "do_sample": False}
plain = pipeline("text-generation", model=checkpoint, dtype=torch.float32)
usual = plain("A pipeline that compiles", **settings)
# --8<-- [start:enable]
pipe = pipeline("text-generation", model=checkpoint, dtype=torch.float32)
pipe.model.compile(backend=count)  # this backend counts graphs: leave it out
# --8<-- [end:enable]
compiled = pipe("A pipeline that compiles", **settings)
print(f"model.compile(): {len(graphs)} graphs")
assert graphs, "nothing was compiled"
# One graph has all matmuls with weights: seven per layer, and the LM head.
linear = torch.nn.functional.linear
matmuls = [sum(n.target is linear for n in graph.graph.nodes) for graph in graphs]
layers = pipe.model.config.num_hidden_layers
assert max(matmuls) == 7 * layers + 1, f"{matmuls} matmuls per graph"
assert compiled == usual, "another text than without torch.compile"

graphs.clear()
wrapper = torch.compile(plain.model, backend=count)
inputs = plain.tokenizer("A pipeline that compiles", return_tensors="pt")
wrapper.generate(**inputs, **settings)
print(f"torch.compile(model): {len(graphs)} graphs")
assert not graphs, "the wrapper generates with the compiled model"
wrapper(**inputs)
assert graphs, "the wrapper's own call is compiled"
