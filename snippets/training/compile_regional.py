# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "model.config.use_cache = False" = "model.config.use_cache = True" }
# ///
"""Without a cache, one compiled graph serves all blocks."""

from unittest.mock import patch

import torch
from torch._dynamo.utils import counters
from torch.profiler import profile
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()

# --8<-- [start:enable]
model.config.use_cache = False  # or each block becomes a graph of its own
for block in model.model.layers:
    block.compile(fullgraph=True)
# --8<-- [end:enable]

batch = torch.randint(model.config.vocab_size, (2, 48), device=device)
model(input_ids=batch, labels=batch).loss.backward()

assert counters["stats"]["unique_graphs"] > 0, "nothing was compiled"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    model(input_ids=batch, labels=batch).loss.backward()
rows = [row for row in trace.key_averages() if "Compiled Region" in row.key]
graphs = counters["stats"]["unique_graphs"]
runs = max((row.count for row in rows), default=0)
print(f"{graphs} graph, run {runs} times in a step")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

blocks = model.config.num_hidden_layers
assert graphs == 1, f"{graphs} graphs were compiled for {blocks} blocks"
assert runs == blocks, f"a step of {blocks} blocks ran a graph {runs} times"
assert shown == f"1 graph, run {blocks} times in a step", f"printed was {shown}"

# fullgraph: a break within a block is an error that names its line.
first = model.model.layers[0].mlp  # compiled first; the others reuse its graph
first.register_forward_pre_hook(lambda *_: torch._dynamo.graph_break())  # noqa: SLF001
torch._dynamo.reset()  # noqa: SLF001 - so that the hook is noticed
try:
    model(input_ids=batch)
    reason = "no error"
except torch._dynamo.exc.Unsupported as error:  # noqa: SLF001
    reason = str(error)
assert "graph_break()" in reason, f"a break in the graph gives {reason}"
assert "line" in reason, f"a break in the graph gives {reason}"
