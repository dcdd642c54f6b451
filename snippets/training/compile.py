# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "model.compile(fullgraph=True)" = "pass" }
# ///
"""A compiled model is one graph without a break. Each step runs it, and no later step compiles again."""

from unittest.mock import patch

import torch
from torch._dynamo.utils import counters
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["One graph, no break."] * 4, return_tensors="pt")["input_ids"]
batch = {"input_ids": batch.to(device), "labels": batch.to(device)}
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
expected = model(**batch).loss.detach()  # before it is compiled

# --8<-- [start:enable]
model.compile(fullgraph=True)  # fullgraph: a break is an error, with its line
# --8<-- [end:enable]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def step() -> torch.Tensor:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


first = step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    step()
ran = {row.key for row in trace.key_averages() if "Compiled Region" in row.key}
graphs = counters["stats"]["unique_graphs"]
breaks = sum(counters["graph_break"].values())
print(f"{graphs} graphs, {breaks} breaks; this step ran {ran}")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

assert graphs == 1, f"{graphs} graphs were compiled"
assert breaks == 0, f"the graph breaks at {counters['graph_break']}"
assert len(ran) == 1, f"the second step ran {ran}"
assert shown == f"1 graphs, 0 breaks; this step ran {ran}", f"printed was {shown}"
for _ in range(2):
    step()
assert counters["stats"]["unique_graphs"] == 1, "a later step compiled again"
assert torch.allclose(first, expected, rtol=1e-4, atol=1e-5), (
    f"the loss is {first}, not {expected}"
)
assert not any("_orig_mod" in name for name in model.state_dict()), (
    "the weights' names are those of a wrapper"
)

# fullgraph: a break is an error that names its line.
model.lm_head.register_forward_pre_hook(lambda *_: torch._dynamo.graph_break())  # noqa: SLF001
torch._dynamo.reset()  # noqa: SLF001 - so that the hook is noticed
try:
    model(**batch)
    reason = "no error"
except torch._dynamo.exc.Unsupported as error:  # noqa: SLF001
    reason = str(error)
assert "graph_break()" in reason, f"a break in the graph gives {reason}"
assert "line" in reason, f"a break in the graph gives {reason}"
