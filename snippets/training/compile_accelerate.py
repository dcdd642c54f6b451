# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "backend=backend," = "" }
# ///
"""Accelerate compiles each block with one graph, if its plugin names a backend; without one it compiles nothing."""

from unittest.mock import patch

import torch
from accelerate import Accelerator
from accelerate.utils import TorchDynamoPlugin
from torch.profiler import profile
from transformers import AutoModelForCausalLM

# On a CPU, graphs without generated code, so that a test takes seconds.
backend = "inductor" if torch.cuda.is_available() else "aot_eager"
checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32
).train()
names = set(model.state_dict())

# --8<-- [start:enable]
model.config.use_cache = False
plugin = TorchDynamoPlugin(
    backend=backend,  # "inductor"; without it, nothing is compiled
    use_regional_compilation=True,
)
accelerator = Accelerator(dynamo_plugin=plugin)
model = accelerator.prepare(model)
# --8<-- [end:enable]

batch = torch.randint(model.config.vocab_size, (2, 48), device=accelerator.device)
model(input_ids=batch, labels=batch).loss.backward()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    model(input_ids=batch, labels=batch).loss.backward()
rows = [row for row in trace.key_averages() if "Compiled Region" in row.key]
runs = max((row.count for row in rows), default=0)
print(f"a graph runs {runs} times in a step")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

blocks = model.config.num_hidden_layers
assert runs == blocks, f"a step of {blocks} blocks ran a graph {runs} times"
assert shown == f"a graph runs {blocks} times in a step", f"printed was {shown}"
# The backend of the example splits the backward pass off, as "inductor" does. Backends
# that run a graph as it is, such as "eager", have no such function.
names_run = {row.key for row in trace.key_averages()}
assert any("CompiledFunctionBackward" in name for name in names_run), "no backward"
kept = set(accelerator.unwrap_model(model).state_dict())
assert any("._orig_mod." in name for name in kept - names), "the names are plain"
plain = accelerator.unwrap_model(model, keep_torch_compile=False)
assert set(plain.state_dict()) == names
