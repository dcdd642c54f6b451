# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "| whole_inputs" = "" }
# ///
"""PrepareModuleInput around attention and MLP lowers the all-reduces of a Llama layer from seven to four."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    parallelize_module,
)
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"


def load():
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)


model, separate, whole = load(), load(), load()
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()

# --8<-- [start:enable]
mesh = init_device_mesh(device, (dist.get_world_size(),))
matrices = {
    "self_attn.q_proj": ColwiseParallel(),
    "self_attn.k_proj": ColwiseParallel(),
    "self_attn.v_proj": ColwiseParallel(),
    "self_attn.o_proj": RowwiseParallel(),
    "mlp.gate_proj": ColwiseParallel(),
    "mlp.up_proj": ColwiseParallel(),
    "mlp.down_proj": RowwiseParallel(),
}
# q, k and v get one DTensor, so PyTorch adds their gradients before one all-reduce.
whole_inputs = {
    "self_attn": PrepareModuleInput(
        input_kwarg_layouts={"hidden_states": Replicate()},
        desired_input_kwarg_layouts={"hidden_states": Replicate()},
    ),
    "mlp": PrepareModuleInput(
        input_layouts=(Replicate(),), desired_input_layouts=(Replicate(),)
    ),
}
for layer in model.model.layers:
    parallelize_module(layer, mesh, matrices | whole_inputs)
# --8<-- [end:enable]
for layer in separate.model.layers:
    parallelize_module(layer, mesh, matrices)
torch.manual_seed(0)
batch = torch.randint(100, (2, 64))


def collectives(model) -> dict:
    """Run a step, and return how many collectives of each kind this rank calls in a layer."""
    model.to(device)
    with CommDebugMode() as counter:
        model(input_ids=batch.to(device), labels=batch.to(device)).loss.backward()
    layers = len(model.model.layers)
    return {op.__name__: n / layers for op, n in counter.get_comm_counts().items()}


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
prepared, unprepared = collectives(model), collectives(separate)
if dist.get_rank() == 0:
    print("prepared:", prepared)
    print("separate:", unprepared)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof, on each rank: four all-reduces per layer against seven, on the same shards, with the same gradients.
assert dist.get_world_size() == 2
assert prepared == {"all_reduce": 4}, prepared
assert unprepared == {"all_reduce": 7}, unprepared
if dist.get_rank() == 0:
    assert shown == [
        ("prepared:", {"all_reduce": 4}),
        ("separate:", {"all_reduce": 7}),
    ], f"printed was {shown}"
whole(input_ids=batch, labels=batch).loss.backward()
for p, other, q in zip(
    model.parameters(), separate.parameters(), whole.parameters(), strict=True
):
    assert isinstance(p, DTensor) == isinstance(other, DTensor)
    for gradient in (p.grad, other.grad):
        full = gradient.full_tensor() if isinstance(gradient, DTensor) else gradient
        apart = (full.cpu() - q.grad).norm() / q.grad.norm()
        assert apart < 1e-4, f"the gradients differ by {apart:.1e}"
assert model.model.layers[0].self_attn.q_proj.weight.to_local().shape == (64, 128)
dist.destroy_process_group()
