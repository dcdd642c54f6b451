# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["allenai/OLMoE-1B-7B-0924"]
# timeout = 120
# ablation = { "fsdp_size=2, ep_size=2" = "fsdp_size=2" }
# ///
"""The router's choices say how many rows each expert parallel rank receives; equal tokens, such as padding, all choose the same experts."""

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "allenai/OLMoE-1B-7B-0924"
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    distributed_config=DistributedConfig(fsdp_size=2, ep_size=2),
)
rank, ranks = dist.get_rank(), dist.get_world_size()
generator = torch.Generator().manual_seed(rank)
tokens = torch.randint(100, (1, 128), generator=generator).to(model.device)


# --8<-- [start:enable]
def rows_per_expert(tokens):
    """Return how many rows of all ranks' tokens go to each expert, layer by layer."""
    with torch.no_grad():
        out = model(input_ids=tokens, output_router_logits=True)
    top_k, experts = model.config.num_experts_per_tok, model.config.num_experts
    chosen = [logits.topk(top_k).indices for logits in out.router_logits]
    rows = torch.stack([c.flatten().bincount(minlength=experts) for c in chosen])
    dist.all_reduce(rows)
    return rows


def imbalance(rows):
    """Return the largest share of an expert and of a rank, as multiples of the mean."""
    per_rank = rows.unflatten(1, (ranks, -1)).sum(
        -1
    )  # ranks have consecutive experts
    return [float((x.amax(1) / x.float().mean(1)).max()) for x in (rows, per_rank)]


# --8<-- [end:enable]


class Received(TorchDispatchMode):
    """Note how many rows this rank receives in each dispatch."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.name() == "_c10d_functional::all_to_all_single":
            self.rows.append(sum(args[1]))
        return func(*args, **(kwargs or {}))


padding = torch.zeros_like(tokens)  # one token, again and again
received = {}
measured = {}
for name, batch in (("random tokens", tokens), ("equal tokens", padding)):
    with Received() as received[name]:
        measured[name] = rows_per_expert(batch)
    expert, per_rank = imbalance(measured[name])
    if rank == 0:
        print(f"{name}: busiest expert {expert:.2f}, busiest rank {per_rank:.2f}")

# The proof, on each rank: the counts are what the all-to-alls bring here. Of equal tokens, k of E
# experts get all rows, E / k times the mean, and random tokens are spread more evenly.
assert ranks == 2
experts, top_k = model.config.num_experts, model.config.num_experts_per_tok
for name, rows in measured.items():
    assert (rows.sum(1) == ranks * tokens.numel() * top_k).all()
    here = rows.unflatten(1, (ranks, -1)).sum(-1)[:, rank].tolist()
    dispatched = received[name].rows[::2]  # each second one is a combine
    assert dispatched == here, f"{dispatched} rows arrived, {here} were counted"
    arrived = [None] * ranks
    dist.all_gather_object(arrived, dispatched)
    arrived = torch.tensor(arrived)  # (ranks, layers)
    busiest = float((arrived.amax(0) / arrived.float().mean(0)).max())
    assert abs(imbalance(rows)[1] - busiest) < 1e-6, "not the busiest rank"
assert ((measured["equal tokens"] > 0).sum(1) == top_k).all()
assert imbalance(measured["equal tokens"])[0] == experts / top_k
assert imbalance(measured["random tokens"])[0] < experts / top_k
dist.destroy_process_group()
