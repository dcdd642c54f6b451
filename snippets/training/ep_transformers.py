# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["allenai/OLMoE-1B-7B-0924"]
# timeout = 120
# ablation = { "distributed_config=DistributedConfig(fsdp_size=2, ep_size=2)" = "distributed_config=DistributedConfig(fsdp_size=2)" }
# ///
"""DistributedConfig(fsdp_size=2, ep_size=2) gives each rank half of the experts, whole, and half of each other weight; tokens travel by all-to-all, and loss and gradients are those of one process."""

import warnings
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "allenai/OLMoE-1B-7B-0924"
batches = torch.randint(100, (2, 1, 64), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(fsdp_size=2, ep_size=2),
)
rank = dist.get_rank()  # from_pretrained starts the process group
tokens = batches[rank].to(model.device)  # expert parallel ranks have other batches
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as counter:
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()

experts = model.model.layers[0].mlp.experts.gate_up_proj
print(f"rank {rank}: {experts.to_local().shape[0]} of {experts.shape[0]} experts")
for operation, count in counter.get_comm_counts().items():
    print(operation, count)
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list]

# The proof, on each rank: half of the experts, whole; half of all parameters; two all-to-alls of
# tokens per layer, forward and backward; and the mean of the gradients of one process on both batches.
assert dist.get_world_size() == 2
assert experts.to_local().shape[0] == experts.shape[0] // 2
held = sum(p.to_local().numel() for p in model.parameters())
assert abs(held / model.num_parameters() - 0.5) < 0.01, held
counts = {
    str(name).split(".")[-1]: n for name, n in counter.get_comm_counts().items()
}
layers = model.config.num_hidden_layers
assert counts.get("all_to_all_single") == 4 * layers, counts
whole = model.config.num_experts
assert shown == [
    (f"rank {dist.get_rank()}: {whole // 2} of {whole} experts",),
    *counter.get_comm_counts().items(),
], f"printed was {shown}"

reference = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
losses = [reference(input_ids=b, labels=b).loss for b in batches]
torch.stack(losses).mean().backward()
assert torch.allclose(loss.detach().cpu(), losses[rank].detach()), (
    "the loss differs"
)
pairs = zip(model.named_parameters(), reference.parameters(), strict=True)
for (name, one), other in pairs:
    apart = (one.grad.full_tensor().cpu() - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, (
        f"the gradient of {name} differs by {apart:.1e} of its length"
    )

# Two forms that do not divide the experts.
with warnings.catch_warnings(action="ignore"):
    replicated = DistributedConfig(fsdp_size=2, enable_expert_parallel=True)
assert replicated.ep_size == 1, "enable_expert_parallel alone divides the experts"
try:
    DistributedConfig(ep_size=2)
except ValueError as error:
    assert "must divide" in str(error)  # noqa: PT017
else:
    raise AssertionError("ep_size alone is accepted")
dist.destroy_process_group()
