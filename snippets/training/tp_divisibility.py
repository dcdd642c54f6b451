# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 4"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "math.gcd(ranks, heads)" = "ranks" }
# ///
"""The largest tensor-parallel size that divides the key-value heads; the other ranks become data-parallel ranks."""

import math
import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.distributed import DistributedConfig

checkpoint = "HuggingFaceTB/SmolLM2-135M"

divisor = patch("math.gcd", wraps=math.gcd).start()
# --8<-- [start:enable]
heads = AutoConfig.from_pretrained(checkpoint).num_key_value_heads
ranks = int(os.environ["WORLD_SIZE"])
tp_size = math.gcd(ranks, heads)  # the largest divisor of both
config = DistributedConfig(tp_size=tp_size, fsdp_size=ranks // tp_size)
# --8<-- [end:enable]


def load(config):
    return AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.float32, distributed_config=config
    )


def error_of(model) -> str:
    """Return the message with which a forward pass fails, or nothing."""
    torch.manual_seed(0)
    batch = torch.randint(100, (2, 64)).to(model.device)
    try:
        model(input_ids=batch, labels=batch).loss.backward()
    except RuntimeError as error:
        return str(error)
    return ""


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
model = load(config)
failed = error_of(model)
if int(os.environ["RANK"]) == 0:
    print(
        f"{heads} key-value heads on {ranks} ranks: tp_size {config.tp_size}, fsdp_size {config.fsdp_size}"
    )
    print(failed or "forward and backward pass run")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: four ranks cannot divide two key-value heads; two can, and leave two for FSDP.
assert dist.get_world_size() == 4
assert not failed, failed
assert (config.tp_size, config.fsdp_size) == (2, 2)
divisor.assert_called_once_with(
    4, 2
)  # 6 ranks and 4 heads have the divisor 2, not 4
if dist.get_rank() == 0:
    assert shown == [
        "2 key-value heads on 4 ranks: tp_size 2, fsdp_size 2",
        "forward and backward pass run",
    ], f"printed was {shown}"
weight = model.model.layers[0].self_attn.k_proj.weight
assert isinstance(weight, DTensor)
assert weight.to_local().numel() * 4 == weight.numel()
too_many = error_of(load(DistributedConfig(tp_size=4)))
assert too_many == "shape '[2, 64, -1, 32]' is invalid for input of size 2048", (
    too_many
)
dist.destroy_process_group()
