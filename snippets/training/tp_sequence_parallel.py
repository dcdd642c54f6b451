# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "tokens = Shard(1)" = "tokens = Replicate()", "| norms" = "", "\"model.norm\": SequenceParallel()," = "" }
# ///
"""Sequence parallelism sends the bytes of tensor parallelism, and divides the saved inputs of the norms by two ranks."""

from collections import Counter
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"


def load():
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)


model, tensor_only, whole = load(), load(), load()
device = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group()
mesh = init_device_mesh(device, (dist.get_world_size(),))

# --8<-- [start:enable]
tokens = Shard(1)  # between the matrices, each rank has a part of the sequence
norms = {
    "input_layernorm": SequenceParallel(),
    "post_attention_layernorm": SequenceParallel(),
}
plan = {
    "self_attn": PrepareModuleInput(  # gathers the sequence
        input_kwarg_layouts={"hidden_states": tokens},
        desired_input_kwarg_layouts={"hidden_states": Replicate()},
    ),
    "self_attn.q_proj": ColwiseParallel(),
    "self_attn.k_proj": ColwiseParallel(),
    "self_attn.v_proj": ColwiseParallel(),
    "self_attn.o_proj": RowwiseParallel(output_layouts=tokens),  # scatters it
    "mlp": PrepareModuleInput(
        input_layouts=(tokens,), desired_input_layouts=(Replicate(),)
    ),
    "mlp.gate_proj": ColwiseParallel(),
    "mlp.up_proj": ColwiseParallel(),
    "mlp.down_proj": RowwiseParallel(output_layouts=tokens),
}
outer = {
    "model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "model.layers.0": PrepareModuleInput(  # cuts the sequence into parts
        input_layouts=(Replicate(),),
        desired_input_layouts=(tokens,),
        use_local_output=True,
    ),
    "model.norm": SequenceParallel(),
    "lm_head": ColwiseParallel(input_layouts=tokens, output_layouts=Replicate()),
}
for layer in model.model.layers:
    parallelize_module(layer, mesh, plan | norms)
parallelize_module(model, mesh, outer)
model.tie_weights()  # the plan divided embedding and LM head separately
# --8<-- [end:enable]


class Traffic(TorchDispatchMode):
    """Count this rank's collectives by kind and by the bytes of the whole tensor."""

    def __init__(self):
        super().__init__()
        self.calls = Counter()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # count what is called below the DTensor
        out = op(*args, **(kwargs or {}))
        kind = op.name().split("::")[1]
        if kind in (
            "all_reduce",
            "all_gather_into_tensor",
            "reduce_scatter_tensor",
        ):
            self.calls[kind, max(args[0].nbytes, out.nbytes)] += 1
        return out

    def sent(self):
        """Return the bytes that a rank sends by the ring algorithm."""
        n = dist.get_world_size()
        times = {
            "all_reduce": 2,
            "all_gather_into_tensor": 1,
            "reduce_scatter_tensor": 1,
        }
        return sum(
            times[kind] * size * count * (n - 1) // n
            for (kind, size), count in self.calls.items()
        )


def norms_of(model):
    return [
        norm
        for layer in model.model.layers
        for norm in (layer.input_layernorm, layer.post_attention_layernorm)
    ]


def step(model):
    """Run a step; return its traffic, and the bytes of activations that the layers' norms save."""
    inside, saved = [], []

    def pack(tensor):
        local = tensor.to_local() if isinstance(tensor, DTensor) else tensor
        if inside and local.dim() == 3:
            saved.append(local.nbytes)
        return tensor

    for norm in norms_of(model):
        norm.register_forward_pre_hook(lambda *_: inside.append(True))
        norm.register_forward_hook(lambda *_: inside.clear())
    with (
        Traffic() as traffic,
        torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x),
    ):
        model(input_ids=batch, labels=batch).loss.backward()
    return traffic, sum(saved)


torch.manual_seed(0)
batch = torch.randint(100, (2, 64)).to(device)
model.to(device)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
traffic, norm_bytes = step(model)
if dist.get_rank() == 0:
    for (kind, size), count in sorted(traffic.calls.items()):
        print(f"{count} x {kind} of {size:,} bytes")
    print(f"{norm_bytes:,} bytes saved by the norms of all layers")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof, on each rank: tensor parallelism alone sends the same bytes in a layer, and its norms save twice as much.
assert dist.get_world_size() == 2
replicas = {
    "self_attn": PrepareModuleInput(
        input_kwarg_layouts={"hidden_states": Replicate()},
        desired_input_kwarg_layouts={"hidden_states": Replicate()},
    ),
    "mlp": PrepareModuleInput(
        input_layouts=(Replicate(),), desired_input_layouts=(Replicate(),)
    ),
    "self_attn.o_proj": RowwiseParallel(),
    "mlp.down_proj": RowwiseParallel(),
}
for layer in tensor_only.model.layers:
    parallelize_module(layer, mesh, plan | replicas)
tensor_traffic, tensor_norm_bytes = step(tensor_only.to(device))
layers, hidden = len(model.model.layers), model.config.hidden_size
one = batch.numel() * hidden * 4  # the bytes of the hidden states
assert tensor_traffic.calls == {("all_reduce", one): 4 * layers}
# Beyond the layers: the embedding's all-reduce; two gathers and a scatter at the first layer and at the LM head.
assert traffic.calls["all_reduce", one] == 1, traffic.calls
assert traffic.calls["all_gather_into_tensor", one] == 4 * layers + 2
assert traffic.calls["reduce_scatter_tensor", one] == 4 * layers + 1
ends = Traffic()
ends.calls.update(traffic.calls)
ends.calls["all_gather_into_tensor", one] -= 4 * layers
ends.calls["reduce_scatter_tensor", one] -= 4 * layers
assert traffic.sent() - ends.sent() == tensor_traffic.sent()
assert 2 * norm_bytes == tensor_norm_bytes
# Of the two norms of each layer, each saves its input at least, and at most four tensors of that size.
assert 2 * layers * one <= tensor_norm_bytes < 8 * layers * one
ids, vocabulary = batch.numel(), model.config.vocab_size  # gathered in equal parts
if dist.get_rank() == 0:
    assert shown == [
        f"{4 * layers + 2} x all_gather_into_tensor of {one:,} bytes",
        f"1 x all_gather_into_tensor of {4 * ids * (vocabulary + vocabulary % 2):,} bytes",
        f"1 x all_reduce of {one:,} bytes",
        f"{4 * layers + 1} x reduce_scatter_tensor of {one:,} bytes",
        f"{tensor_norm_bytes // 2:,} bytes saved by the norms of all layers",
    ], f"printed was {shown}"
assert {norm.weight.grad.placements for norm in norms_of(model)} == {(Partial(),)}
whole(input_ids=batch.cpu(), labels=batch.cpu()).loss.backward()
for (name, p), q in zip(model.named_parameters(), whole.parameters(), strict=True):
    gradient = p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
    apart = (gradient.cpu() - q.grad).norm() / q.grad.norm()
    assert apart < 1e-4, f"the gradients of {name} differ by {apart:.1e}"
dist.destroy_process_group()
