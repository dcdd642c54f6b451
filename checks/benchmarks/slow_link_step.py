# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of a Llama on two hosts with a slow link; arms hold and exchange parameters in different ways.

Each of the two ranks moves into a network namespace of its own, as if it were a host. A virtual Ethernet cable joins
the namespaces, and each end sends at most ``megabits`` per second (``tc``, token bucket). This needs root, ``ip`` and
``tc``. Without them, ``prepare`` raises a PermissionError that says so, and nothing is measured.

The model has GPT-2's hidden size, four narrow layers and a small vocabulary, in fp32. Each rank draws 4 sequences of
its own; with tensor parallelism both ranks process all 8. AdamW is fused. ``no exchange`` trains each rank alone: it
computes what DDP computes, and sends nothing.
"""

import ctypes
import os
import subprocess
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = ("no exchange", "DDP", "ZeRO-1", "FSDP2", "FSDP2, not resharded after forward", "tensor parallel")
RANKS = (2,)
SEQUENCES = 4
TOKENS = 96
SHAPE = {
    "hidden_size": 768,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "vocab_size": 1024,
    "tie_word_embeddings": False,
}
SMALL = {
    "TOKENS": 8,
    "SHAPE": {
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 256,
        "tie_word_embeddings": False,
    },
}
DEVICE = "cable"
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_BURST = "256kb"  # a token bucket of a few TCP packets: little passes faster than the rate


def run(*command: str) -> None:
    """Run a command of the system.

    Raises:
        PermissionError: the command is missing, or may not change the network.
    """
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - constant commands
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "") or str(error)
        raise PermissionError(f"network namespaces need root, `ip` and `tc`: {why.strip()}") from None


@cache
def cable() -> Any:
    """Move this rank into a namespace that a cable joins to the other rank's, and return a process group over it.

    The default process group keeps its connections, which belong to the namespace that this rank leaves.

    Raises:
        PermissionError: namespaces are not permitted.
    """
    rank = dist.get_rank()
    entered = ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) == 0
    hosts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(hosts, (os.getpid(), entered))
    if not all(entered for _, entered in hosts):
        raise PermissionError("network namespaces need root, `ip` and `tc`: a rank may not enter a namespace")
    if rank == 0:
        other = str(hosts[1][0])
        run("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", other)
    dist.barrier()
    run("ip", "addr", "add", f"10.77.0.{rank + 1}/24", "dev", DEVICE)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "set", DEVICE, "up")
    dist.barrier()
    os.environ["GLOO_SOCKET_IFNAME"] = DEVICE
    return dist.new_group(backend="gloo")


def shaped_link(megabits: int) -> Any:
    """Return a process group over the cable, whose ends send at most so many megabits per second.

    Raises:
        PermissionError: namespaces are not permitted.
    """
    group = cable()
    rate = ("rate", f"{megabits}mbit", "burst", _BURST, "latency", "1s")
    run("tc", "qdisc", "replace", "dev", DEVICE, "root", "tbf", *rate)
    dist.barrier()
    return group


def tensor_parallel(model: Any, mesh: DeviceMesh) -> Any:
    """Return the model with each layer's projections sharded, and the inputs of attention and MLP replicated once."""
    whole = {"desired_input_kwarg_layouts": {"hidden_states": Replicate()}}
    columns = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
    plan: dict[str, Any] = {name: ColwiseParallel() for name in columns}
    plan |= {name: RowwiseParallel() for name in ("self_attn.o_proj", "mlp.down_proj")}
    plan["self_attn"] = PrepareModuleInput(input_kwarg_layouts={"hidden_states": Replicate()}, **whole)
    plan["mlp"] = PrepareModuleInput(input_layouts=(Replicate(),), desired_input_layouts=(Replicate(),))
    for layer in model.model.layers:
        parallelize_module(layer, mesh, plan)
    return model


def distributed(arm: str, model: Any, group: Any) -> Any:
    """Return the model as the arm distributes it over the group."""
    if arm == "no exchange":
        return model
    if arm in ("DDP", "ZeRO-1"):
        return DistributedDataParallel(model, process_group=group)
    mesh = DeviceMesh.from_group(group, "cpu")
    if arm == "tensor parallel":
        return tensor_parallel(model, mesh)
    options = {"mesh": mesh, "reshard_after_forward": "not resharded" not in arm}
    for layer in model.model.layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def optimizer_of(arm: str, model: Any, group: Any) -> torch.optim.Optimizer:
    """Return AdamW; with ZeRO-1, each rank updates a share of the parameters."""
    options = {"lr": 1e-5, "fused": arm != "tensor parallel"}
    if arm == "ZeRO-1":
        return ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, process_group=group, **options)
    return torch.optim.AdamW(model.parameters(), **options)


def prepare(arm: str, *, ranks: int, megabits: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step on this rank, and returns the mean loss of its sequences."""
    if (ranks, device) != (2, "cpu"):
        raise ValueError("the cable joins two ranks on a CPU")
    group = shaped_link(megabits)
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, max_position_embeddings=TOKENS, use_cache=False)
    model = distributed(arm, LlamaForCausalLM(config).train(), group)
    optimizer = optimizer_of(arm, model, group)
    torch.manual_seed(seed)
    batch = torch.randint(config.vocab_size, (ranks * SEQUENCES, TOKENS))
    if arm != "tensor parallel":
        batch = batch.chunk(ranks)[dist.get_rank()]

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    dist.init_process_group("gloo")
    for name in ARMS:
        loss = prepare(name, ranks=dist.get_world_size(), megabits=1000)()
        if dist.get_rank() == 0:
            print(f"{name}: loss {loss:.4f}")
    dist.destroy_process_group()
