# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "distributed_config=DistributedConfig(fsdp_size=2)," = "" }
# ///
"""DistributedConfig(fsdp_size=2) shards a model with fully_shard while from_pretrained loads it."""

import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor.debug import CommDebugMode
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    distributed_config=DistributedConfig(fsdp_size=2),
    dtype=torch.float32,
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
# --8<-- [end:enable]

tokens = torch.randint(100, (2, 64), device=model.device)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with CommDebugMode() as counter:
    model(input_ids=tokens, labels=tokens).loss.backward()
optimizer.step()
local = [getattr(p, "_local_tensor", p) for p in model.parameters()]
share = sum(p.numel() for p in local) / model.num_parameters()
if os.environ["RANK"] == "0":
    print(f"this rank holds {share:.2f} of the parameters")
    for operation, count in counter.get_comm_counts().items():
        print(operation, count)
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: half of weights, gradients and moments; and each layer, and the embedding
# with the LM head and the norm, are groups of their own that are gathered.
assert abs(share - 0.5) < 0.01, f"this rank holds {share:.2f} of the parameters"
assert dist.get_world_size() == 2
types = {t.dtype for p in model.parameters() for t in (p, p.grad)}
assert types == {torch.float32}, f"weights and gradients are {types}"
layers = len(model.model.layers)
for tensors in (
    [p.grad for p in model.parameters()],
    [optimizer.state[p]["exp_avg"] for p in model.parameters()],
):
    held = sum(tensor.to_local().numel() for tensor in tensors)
    assert abs(held / model.num_parameters() - 0.5) < 0.01
counts = {str(k).split(".")[-1]: v for k, v in counter.get_comm_counts().items()}
assert counts["_allgather_base_"] >= 2 * layers + 1, counts
assert counts["_reduce_scatter_base_"] >= layers + 1, counts
lines = [f"{k} {v}" for k, v in counter.get_comm_counts().items()]
expected = ["this rank holds 0.50 of the parameters", *lines]
assert shown == (expected if dist.get_rank() == 0 else []), f"printed was {shown}"
dist.destroy_process_group()
