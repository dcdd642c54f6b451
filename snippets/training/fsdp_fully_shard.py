# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "for layer in model.model.layers:" = "for layer in ():" }
# ///
"""fully_shard on each layer and on the model leaves a rank 1/N of weights, gradients and optimizer states, and gathers one layer at a time."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokens = torch.randint(100, (2, 64))
unsharded = {}  # for each model, the parameters that are whole when a layer runs


def load():
    """Return the model, with a hook in each layer that counts the whole parameters."""
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    counts = unsharded[model] = []

    def count(*_):
        whole = [p for p in model.parameters() if not isinstance(p, DTensor)]
        counts.append(sum(p.numel() for p in whole))

    for block in model.model.layers:
        block.mlp.register_forward_hook(count)
    return model


model = load()
parameters = model.num_parameters()
layers = len(model.model.layers)
layer_parameters = sum(p.numel() for p in model.model.layers[0].parameters())

# --8<-- [start:enable]
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))

for layer in model.model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)  # the rest: embedding, last norm and LM head
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)  # after fully_shard
# --8<-- [end:enable]


def step(model):
    batch = tokens.to(device)
    model(input_ids=batch, labels=batch).loss.backward()


def share(tensors):
    """Return the elements on this rank, as a share of the parameters."""
    return sum(tensor.to_local().numel() for tensor in tensors) / parameters


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as counter:
    step(model)
optimizer.step()

held = sum(p.to_local().numel() for p in model.parameters())
if dist.get_rank() == 0:
    print(f"this rank holds {held / parameters:.2f} of the parameters")
    for operation, count in counter.get_comm_counts().items():
        print(operation, count)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: half of weights, gradients and optimizer states, 2L + 1 gathers, L + 1
# reduce-scatters, and at most one layer and the root's own parameters whole at a time.
assert dist.get_world_size() == 2
states = [value for state in optimizer.state.values() for value in state.values()]
moments = [state for state in states if isinstance(state, DTensor)]
assert abs(share(model.parameters()) - 0.5) < 0.01  # rank 0 has a row more
assert held / parameters == share(model.parameters()), held
assert abs(share(p.grad for p in model.parameters()) - 0.5) < 0.01
assert abs(share(moments) - 2 * 0.5) < 0.02
peak = max(unsharded[model])
expected = parameters - (layers - 1) * layer_parameters
assert peak == expected, (
    f"{peak / parameters:.2f} of the parameters are whole at once"
)
names = {"_allgather_base_": 2 * layers + 1, "_reduce_scatter_base_": layers + 1}
counts = {str(k).split(".")[-1]: v for k, v in counter.get_comm_counts().items()}
assert counts == names, counts
lines = [f"this rank holds {share(model.parameters()):.2f} of the parameters"]
lines += [f"c10d.{name} {count}" for name, count in names.items()]
assert sorted(shown) == ([] if dist.get_rank() else sorted(lines)), shown

# With the root alone, a rank holds the same share, and all parameters are whole at once.
root_only = fully_shard(load(), mesh=mesh)
step(root_only)
assert abs(share(root_only.parameters()) - 0.5) < 0.01
assert min(unsharded[root_only]) == parameters
if dist.get_rank() == 0:
    print(f"whole at once: {peak / parameters:.2f}; with the root alone: 1.00")
dist.destroy_process_group()
