# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "model.activation_checkpointing_enable()" = "" }
# ///
"""Activation checkpointing with fully_shard runs each layer's forward twice, and gathers its weights no more often."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))
checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForCausalLM.from_pretrained(
    checkpoint, dtype=torch.float32
).train()
layers = len(model.model.layers)
runs = [0] * layers
for number, layer in enumerate(model.model.layers):

    def count(*_, number=number):
        runs[number] += 1

    layer.mlp.register_forward_pre_hook(count)

# --8<-- [start:enable]
model.activation_checkpointing_enable()
for layer in model.model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
# --8<-- [end:enable]

tokens = torch.randint(100, (2, 64), device=device)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as counter:
    model(input_ids=tokens, labels=tokens).loss.backward()
if dist.get_rank() == 0:
    print("forward passes of each layer:", runs)
    for operation, count in counter.get_comm_counts().items():
        print(operation, count)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: every layer runs twice, its weights are gathered twice as without
# checkpointing, and the gradients are the same.
assert dist.get_world_size() == 2
assert runs == [2] * layers, runs
used = model.model.layers[0]._gradient_checkpointing_func  # noqa: SLF001
assert used.keywords == {"use_reentrant": False}, f"checkpointed with {used}"
counts = {str(k).split(".")[-1]: v for k, v in counter.get_comm_counts().items()}
expected = {"_allgather_base_": 2 * layers + 1, "_reduce_scatter_base_": layers + 1}
assert counts == expected, counts
lines = [f"forward passes of each layer: {[2] * layers}"]
lines += [f"c10d.{name} {count}" for name, count in expected.items()]
assert sorted(shown) == ([] if dist.get_rank() else sorted(lines)), shown
gradients = [p.grad.to_local().clone() for p in model.parameters()]
model.zero_grad()
model.activation_checkpointing_disable()
model(input_ids=tokens, labels=tokens).loss.backward()
assert runs == [3] * layers, runs
for ours, p in zip(gradients, model.parameters(), strict=True):
    torch.testing.assert_close(ours, p.grad.to_local())
dist.destroy_process_group()
