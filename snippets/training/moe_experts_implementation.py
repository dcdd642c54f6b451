# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["allenai/OLMoE-1B-7B-0924"]
# ablation = { "experts_implementation=\"grouped_mm\"" = "experts_implementation=\"eager\"" }
# ///
"""With grouped_mm, two grouped matmuls compute all experts of a block. A loop computes the same with two matmuls for each expert that got a token."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "allenai/OLMoE-1B-7B-0924"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Which expert knows this word?"] * 4, return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.bfloat16,
    experts_implementation="grouped_mm",  # the default where it can run
)
# --8<-- [end:enable]
model = model.to(device).train()


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def matmuls(model) -> dict[str, int]:
    """How often each kind of matmul runs in a forward pass."""
    with profile() as trace:
        model(**batch)
    kinds = ("aten::_grouped_mm", "aten::bmm", "aten::mm")
    return {r.key: r.count for r in trace.key_averages() if r.key in kinds}


counts = matmuls(model)
print(counts)  # on: _grouped_mm twice a block
# and on a GPU of capability 9.0 or 10.0, aten::mm no longer twice for each expert
# --8<-- [end:is-it-on]
(shown,) = printed.call_args.args

blocks = len(model.model.layers)
assert counts.get("aten::_grouped_mm") == 2 * blocks, f"the matmuls were {counts}"
default = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
assert model.dtype == default.dtype, f"the weights are {model.dtype}"
assert matmuls(default.to(device)) == shown == counts, (
    "grouped_mm is not the default"
)

# Elsewhere, PyTorch computes a grouped matmul as one matmul for each expert.
one_kernel = device == "cuda" and torch.cuda.get_device_capability()[0] in (9, 10)
model.set_experts_implementation("eager")
chosen = []
hooks = [
    block.mlp.gate.register_forward_hook(lambda *args: chosen.append(args[-1][2]))
    for block in model.model.layers
]
looped = matmuls(model)
for hook in hooks:
    hook.remove()
model.set_experts_implementation("grouped_mm")
met = sum(indices.unique().numel() for indices in chosen)
others = sum(isinstance(m, torch.nn.Linear) for m in model.modules()) + blocks
assert met > 2 * blocks, f"only {met} experts got a token"
assert looped == {"aten::mm": 2 * met + others}, f"{looped}, {met} experts met"
each = 0 if one_kernel else 2 * blocks * model.config.num_experts
if one_kernel or device == "cpu":
    assert shown["aten::mm"] == each + others, f"{shown}, {others} other layers"
if one_kernel:
    assert counts["aten::mm"] < looped["aten::mm"], f"{counts}, {looped} in a loop"


# The others compute the same. What they keep for backward is not the same.
def outcome() -> tuple[torch.Tensor, torch.Tensor, int]:
    """Logits, the gradient of a router, and the bytes saved for backward, weights aside."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in weights:
            found[memory.data_ptr()] = memory
        return tensor

    model.zero_grad()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        outputs = model(**batch, labels=batch["input_ids"])
    size = sum(memory.nbytes() for memory in found.values())
    outputs.loss.backward()
    return outputs.logits, model.model.layers[0].mlp.gate.weight.grad, size


model = model.float()  # so that they can be compared closely
logits, gradient, kept = outcome()
for other in ("eager", "batched_mm"):
    model.set_experts_implementation(other)
    same, alike, more = outcome()
    assert torch.allclose(same, logits, rtol=1e-4, atol=1e-5), (
        f"{other} computes other logits"
    )
    assert torch.allclose(alike, gradient, rtol=1e-3, atol=1e-6), (
        f"{other} computes another gradient"
    )
    assert "aten::_grouped_mm" not in matmuls(model)


# Autocast over fp32 weights: grouped_mm takes no part in it, the others do.
def made(name: str) -> set[torch.dtype]:
    """The dtypes that matmuls of this kind give under autocast."""
    found = set()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if function.overloadpacket.__name__ == name:
                found.add(result.dtype)
            return result

    with torch.autocast(device, dtype=torch.bfloat16), Watch():
        model(**batch)
    return found


made_by = {"grouped_mm": "_grouped_mm", "eager": "mm", "batched_mm": "bmm"}
for implementation, name in made_by.items():
    model.set_experts_implementation(implementation)
    low = torch.bfloat16 in made(name)
    assert low == (implementation != "grouped_mm"), f"{name} gives {made(name)}"

# batched_mm copies, for every token, the weights of each expert that it is sent to.
experts = model.model.layers[0].mlp.experts
one = sum(p.nbytes for p in experts.parameters()) // experts.num_experts
sent = batch["input_ids"].numel() * model.config.num_experts_per_tok
assert more > blocks * sent * one > kept, f"{more:,} and {kept:,} bytes were kept"
