# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "model.compile(dynamic=True)" = "model.compile(dynamic=False)" }
# ///
"""With dynamic=True, one graph serves batches of every length. Without it, each length is compiled, and one length more than the limit is an error."""

from unittest.mock import patch

import torch
from torch._dynamo import config
from torch._dynamo.utils import counters
from torch.profiler import profile
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
lengths = []


def step(length: int) -> None:
    lengths.append(length)
    batch = torch.randint(model.config.vocab_size, (2, length), device=device)
    model(input_ids=batch, labels=batch).loss.backward()


# --8<-- [start:enable]
model.compile(dynamic=True)
config.fail_on_recompile_limit_hit = True  # an error, not a silent way back
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
for length in (48, 40):
    step(length)
print(counters["stats"]["unique_graphs"], "graphs for 2 lengths")  # 1
# --8<-- [end:is-it-on]
shown = printed.call_args.args

graphs = counters["stats"]["unique_graphs"]
assert graphs == 1, f"{graphs} graphs were compiled for 2 lengths"
assert len(set(lengths)) == 2, f"the steps had the lengths {lengths}"
assert shown == (1, "graphs for 2 lengths"), f"printed was {shown}"
with profile() as trace:
    step(53)
ran = {row.key for row in trace.key_averages() if "Compiled Region" in row.key}
assert len(ran) == 1, f"a third length ran {ran}"
assert counters["stats"]["unique_graphs"] == 1, "a third length was compiled"

# Without dynamic=True, each length is a graph of its own, until the limit stops it.
torch._dynamo.reset()  # noqa: SLF001
counters.clear()
double = torch.compile(lambda tensor: 2 * tensor, dynamic=False)
stopped = None
with config.patch(recompile_limit=2):
    for length in (16, 24, 32):
        try:
            double(torch.ones(length, device=device))
        except torch._dynamo.exc.FailOnRecompileLimitHit:  # noqa: SLF001
            stopped = length
graphs = counters["stats"]["unique_graphs"]
assert graphs == 2, f"{graphs} graphs were compiled for 2 lengths"
assert stopped == 32, f"the third length was no error: {stopped}"
