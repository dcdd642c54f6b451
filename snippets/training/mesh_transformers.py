# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "distributed_config=DistributedConfig(fsdp_size=2, tp_size=2)" = "distributed_config=DistributedConfig(fsdp_size=4)" }
# ///
"""DistributedConfig(fsdp_size=2, tp_size=2) divides each layer over two ranks next to each other, and the parts over two FSDP ranks; each pair of ranks has its own batch."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"
batches = torch.randint(100, (2, 1, 64), generator=torch.Generator().manual_seed(0))

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(fsdp_size=2, tp_size=2),
)
rank = dist.get_rank()  # from_pretrained starts the process group
tokens = batches[rank // 2].to(model.device)  # tensor parallel ranks share a batch
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
loss = model(input_ids=tokens, labels=tokens).loss
loss.backward()

weight = model.model.layers[0].mlp.down_proj.weight
print(f"rank {rank}: {tuple(weight.to_local().shape)} of {tuple(weight.shape)}")
print(weight.device_mesh, weight.placements)
held = sum(p.to_local().numel() for p in model.parameters())
print(f"holds {held / model.num_parameters():.2f} of the parameters")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: a quarter of each matrix, divided by its columns over the rank's neighbour and by
# its rows over FSDP; half of each norm; the loss and the mean of the gradients of one process.
assert dist.get_world_size() == 4
mesh = weight.device_mesh
assert mesh.mesh_dim_names == ("fsdp", "tp")
pair = dist.get_process_group_ranks(mesh["tp"].get_group())
assert pair == [rank // 2 * 2, rank // 2 * 2 + 1], pair
assert weight.to_local().shape == (64, 192)
assert model.model.norm.weight.to_local().shape == (64,)
assert abs(held / model.num_parameters() - 0.25) < 0.01, held
assert shown == [
    f"rank {dist.get_rank()}: (64, 192) of (128, 384)",
    f"{mesh} (Shard(dim=0), Shard(dim=1))",
    "holds 0.25 of the parameters",
], f"printed was {shown}"

reference = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
losses = [reference(input_ids=b, labels=b).loss for b in batches]
torch.stack(losses).mean().backward()
assert losses[0] != losses[1], "both batches have the same loss"
assert torch.allclose(loss.detach().cpu(), losses[rank // 2].detach()), (
    "the loss differs"
)
pairs = zip(model.named_parameters(), reference.parameters(), strict=True)
for (name, one), other in pairs:
    apart = (one.grad.full_tensor().cpu() - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, (
        f"the gradient of {name} differs by {apart:.1e} of its length"
    )

try:
    DistributedConfig(fsdp_size=2, pp_size=2)
except ValueError as error:
    assert "not supported yet" in str(error)  # noqa: PT017
else:
    raise AssertionError("FSDP and pipeline parallelism are accepted together")
dist.destroy_process_group()
