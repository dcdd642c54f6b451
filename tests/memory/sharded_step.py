"""Trace the peak memory of training steps with FSDP2 or tensor parallelism on rank 0 of a group that sends nothing.

The argument is a JSON list of cases: ranks, vocabulary, layers, sequences, micro-batches, whether a policy computes in
bf16, the ranks of a shard group, optionally whether only the last micro-batch reduces gradients, and optionally the
ranks of tensor parallelism instead. Each case runs in a process of its
own. The group exchanges no bytes and has no buffers of its own, so the trace has the tensors that PyTorch allocates on
any device.
"""

import json
import multiprocessing
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore
from transformers import LlamaConfig, LlamaForCausalLM

from headroom.execution.benchmark_run import MemoryMeter

SHAPE = {"hidden_size": 768, "intermediate_size": 512, "num_attention_heads": 12, "num_key_value_heads": 4}


def shard(model: LlamaForCausalLM, case: dict[str, int]) -> None:
    """Shard each layer and the model with FSDP2, or with HSDP if a shard group has fewer ranks than there are."""
    mesh = init_device_mesh("cpu", (case["ranks"] // case["shard"], case["shard"]), mesh_dim_names=("copy", "shard"))
    options = {"mesh": mesh if case["shard"] < case["ranks"] else mesh["shard"]}
    if case["bf16"]:
        options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, **options)
    fully_shard(model, **options)


def divide(model: LlamaForCausalLM, case: dict[str, int]) -> None:
    """Divide the matrices of each layer over the ranks."""
    columns = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")
    plan = dict.fromkeys(columns, ColwiseParallel()) | dict.fromkeys(
        ("self_attn.o_proj", "mlp.down_proj"), RowwiseParallel()
    )
    mesh = init_device_mesh("cpu", (case["tensor"],))
    for layer in model.model.layers:
        parallelize_module(layer, mesh, plan)


def peak(case: dict[str, int]) -> float:
    """Return the peak of the second step in bytes."""
    torch.set_num_threads(1)
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=case["ranks"])
    shape = {"vocab_size": case["vocabulary"], "num_hidden_layers": case["layers"], "tie_word_embeddings": False}
    meter = MemoryMeter("cpu")
    with meter:
        model = LlamaForCausalLM(LlamaConfig(**SHAPE, **shape, use_cache=False)).train()
        divided = case.get("tensor", 1) > 1
        divide(model, case) if divided else shard(model, case)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=not divided, foreach=False)
        batch = torch.randint(case["vocabulary"], (case.get("sequences", 4), 32))

        def step() -> None:
            for number, part in enumerate(batch.chunk(case["accumulation"])):
                if case.get("no_sync"):
                    model.set_requires_gradient_sync(number == case["accumulation"] - 1)
                model(input_ids=part, labels=part).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        step()
        with meter.measuring():
            step()
    return meter.read()["peak_allocated"]


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        sys.stdout.write(json.dumps(pool.map(peak, json.loads(sys.argv[1]), chunksize=1)))
