# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "distributed_config=DistributedConfig(tp_size=2)" = "distributed_config=DistributedConfig(tp_size=1)" }
# ///
"""DistributedConfig(tp_size=2) divides the matrices of a Llama over two ranks, at seven all-reduces per layer."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"

# Without the seed below, each rank would have a batch of its own.
torch.manual_seed(int(os.environ["RANK"]))

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(tp_size=2),
)
torch.manual_seed(0)  # all ranks of a tensor-parallel group need the same batch
batch = torch.randint(100, (2, 64)).to(model.device)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as forward:
    loss = model(input_ids=batch, labels=batch).loss
with CommDebugMode() as backward:
    loss.backward()

attention = model.model.layers[0].self_attn
weight = attention.q_proj.weight
local = weight.to_local() if isinstance(weight, DTensor) else weight
print(f"q_proj: {tuple(local.shape)} of {tuple(weight.shape)}")
print(
    "collectives, forward and backward:",
    forward.get_total_counts(),
    backward.get_total_counts(),
)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: its part of each matrix, whole norms, the collectives, and the gradients of one process.
assert dist.is_initialized(), "one rank has the whole model"
assert dist.get_world_size() == 2
layers, hidden = len(model.model.layers), model.config.hidden_size
inner, kv = model.config.intermediate_size, 2 * 32
expected = {
    "self_attn.q_proj": (hidden // 2, hidden),
    "self_attn.k_proj": (kv // 2, hidden),
    "self_attn.v_proj": (kv // 2, hidden),
    "self_attn.o_proj": (hidden, hidden // 2),
    "mlp.gate_proj": (inner // 2, hidden),
    "mlp.up_proj": (inner // 2, hidden),
    "mlp.down_proj": (hidden, inner // 2),
}
for layer in model.model.layers:
    for name, shape in expected.items():
        matrix = layer.get_submodule(name).weight
        assert matrix.to_local().shape == shape, (name, matrix.to_local().shape)
    assert not isinstance(layer.input_layernorm.weight, DTensor)
counts = {op.__name__: n for op, n in forward.get_comm_counts().items()}
# One more all-reduce of the embedding, and one all-gather of the logits.
assert counts["all_reduce"] == 2 * layers + 1, counts
assert counts["all_gather_into_tensor"] == 1, counts
counts = {op.__name__: n for op, n in backward.get_comm_counts().items()}
# q, k, v, gate and up each all-reduce the gradient of their input; so does the LM head.
assert counts == {"all_reduce": 5 * layers + 1}, counts
assert shown == [
    f"q_proj: {(hidden // 2, hidden)} of {(hidden, hidden)}",
    f"collectives, forward and backward: {2 * layers + 2} {5 * layers + 1}",
], f"printed was {shown}"

whole = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
whole(input_ids=batch.cpu(), labels=batch.cpu()).loss.backward()
for p, q in zip(model.parameters(), whole.parameters(), strict=True):
    gradient = p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
    apart = (gradient.cpu() - q.grad).norm() / q.grad.norm()
    assert apart < 1e-4, f"the gradients differ by {apart:.1e}"
sizes = [
    p.to_local().numel() if isinstance(p, DTensor) else p.numel()
    for p in model.parameters()
]
share = sum(sizes) / whole.num_parameters()
assert 0.5 < share < 0.51, share
if dist.get_rank() == 0:
    print(f"{share:.3f} of the parameters are on a rank")
dist.destroy_process_group()
