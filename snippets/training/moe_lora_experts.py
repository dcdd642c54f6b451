# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["allenai/OLMoE-1B-7B-0924"]
# ablation = { "\"mlp.experts.gate_up_proj\", \"mlp.experts.down_proj\"" = "" }
# ///
"""Experts are parameters, not linear layers: target_parameters adapts them, and without checkpointing saves a copy of all their weights for the backward pass."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "allenai/OLMoE-1B-7B-0924"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Adapt the experts, or not."] * 4, return_tensors="pt")
batch = batch.to(device)


def base():
    """The model, without adapters."""
    return AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.bfloat16
    ).to(device)


# --8<-- [start:enable]
adapter = LoraConfig(
    r=8,
    target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
    target_parameters=["mlp.experts.gate_up_proj", "mlp.experts.down_proj"],
    task_type="CAUSAL_LM",
)
model = get_peft_model(base(), adapter)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()


def trained(model):
    """Run the code of the page; return the adapters that it finds."""
    # --8<-- [start:is-it-on]
    model.train()(**batch, labels=batch["input_ids"]).loss.backward()
    reached = {
        name.split(".layers.")[1].split(".lora_")[0]: tuple(p.shape)
        for name, p in model.named_parameters()
        if p.requires_grad and p.grad is not None and p.grad.any()
    }
    print("\n".join(f"{name}: {shape}" for name, shape in reached.items()))
    # --8<-- [end:is-it-on]
    return reached


reached = trained(model)
shown = printed.call_args.args[0]

plain = base().model.layers[0].mlp.experts
assert not [m for m in plain.modules() if isinstance(m, torch.nn.Linear)]
assert plain.gate_up_proj.dim() == plain.down_proj.dim() == 3
blocks, number = model.config.num_hidden_layers, model.config.num_experts
experts = [shape for name, shape in reached.items() if "experts" in name]
assert len(experts) == 2 * blocks, f"adapters of experts were trained: {experts}"
assert all(shape[-1] == 8 * number for shape in experts), (
    "one adapter for each expert"
)


attention = [name for name in reached if "_proj" in name and "experts" not in name]
assert len(attention) == 4 * blocks, f"adapters of attention: {attention}"
expected = [
    f"{name}: ({module.out_features}, 8)"
    for name, module in base().model.layers.named_modules()
    if isinstance(module, torch.nn.Linear)
] + [
    f"{block}.mlp.experts{part}: ({weight.shape[1]}, {8 * number})"
    for block in range(blocks)
    for part, weight in ((".base_layer", plain.gate_up_proj), ("", plain.down_proj))
]
assert sorted(shown.split("\n")) == sorted(expected), f"printed was {shown}"


# An adapter whose expert leaves the loss alone is not among them.
other = get_peft_model(base(), adapter)
other.get_base_model().model.layers[0].mlp.experts.register_forward_hook(
    lambda _module, _args, output: output.detach()
)
missing = reached.keys() - trained(other).keys()
wanted = {name for name in reached if name.startswith("0.mlp.experts")}
assert missing == wanted, f"without gradients are {missing}"


# The price: the adapted weight is computed and saved for backward as a whole.
def kept(model) -> int:
    """Bytes that the forward pass leaves for backward, weights aside."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    found = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in weights:
            found[memory.data_ptr()] = memory
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model.train()(**batch, labels=batch["input_ids"])
    return sum(memory.nbytes() for memory in found.values())


attention = LoraConfig(r=8, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])
more = kept(model) - kept(get_peft_model(base(), attention))
copied = sum(p.nbytes for n, p in base().named_parameters() if ".experts." in n)
assert copied < more < 2 * copied, f"{more:,} bytes more, experts {copied:,}"
# With checkpointing, the forward pass saves no adapted weight: a layer computes its own again.
model.get_base_model().activation_checkpointing_enable()
assert kept(model) < copied / blocks, f"{kept(model):,} bytes, experts {copied:,}"

# Since peft 0.21, "all-linear" reaches experts of this model, too, and its routers.
everything = get_peft_model(base(), LoraConfig(r=8, target_modules="all-linear"))
names = [name for name, p in everything.named_parameters() if p.requires_grad]
assert any(".mlp.experts." in name for name in names)
assert any(".mlp.gate.lora_" in name for name in names)
