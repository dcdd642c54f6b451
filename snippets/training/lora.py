# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "model = get_peft_model(model, adapter)" = "pass" }
# ///
"""LoRA trains two narrow matrices next to each frozen linear layer. Only these have gradients and optimizer states."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["A narrow matrix, and another."] * 4, return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
# Frozen weights may be bf16: no update of theirs can be lost.
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
adapter = LoraConfig(
    r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
)
model = get_peft_model(model, adapter)  # the adapters are fp32
model = model.to(device).train()

trained = [weight for weight in model.parameters() if weight.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)


def step() -> None:
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    optimizer.step()


# --8<-- [end:enable]

before = {name: p.detach().clone() for name, p in model.named_parameters()}

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
step()


def held(tensors) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


weights = list(model.parameters())
gradients = [p.grad for p in weights if p.grad is not None]
groups = optimizer.state.values()
states = [t for group in groups for t in group.values() if t.dim()]
print(f"{held(weights):,} bytes of weights, {held(gradients):,} of", end=" ")
print(f"gradients, {held(states):,} of optimizer states")
# on: 4 and 8 bytes for each number of the adapters, none for frozen weights
# --8<-- [end:is-it-on]
shown = "".join(
    call.args[0] + call.kwargs.get("end", "\n") for call in printed.call_args_list
)

# The proof, from the shapes: rank 16 makes 16 x (inputs + outputs) numbers of a layer,
# with 4 bytes for each gradient and 8 for both states.
blocks = AutoModelForCausalLM.from_pretrained(checkpoint).model.layers
layers = [m for m in blocks.modules() if isinstance(m, torch.nn.Linear)]
numbers = sum(16 * (m.in_features + m.out_features) for m in layers)
assert held(gradients) == 4 * numbers, f"{held(gradients):,} bytes of gradients"
assert held(states) == 8 * numbers, f"{held(states):,} bytes of optimizer states"
assert held(gradients) < held(weights) / 2
full = AutoModelForCausalLM.from_pretrained(checkpoint).num_parameters()
assert held(weights) == 2 * full + 4 * numbers, "not bf16 next to fp32 adapters"
text = f"{2 * full + 4 * numbers:,} bytes of weights, {4 * numbers:,} of gradients"
assert shown == f"{text}, {8 * numbers:,} of optimizer states\n", shown
assert all(m.training for m in model.modules()), "a module evaluates"
scales = {m.scaling["default"] for m in model.modules() if hasattr(m, "lora_A")}
assert scales == {32 / 16}, f"the adapters are multiplied by {scales}"

# The step changed every second matrix of an adapter, and no weight of the model.
changed = {
    name for name, p in model.named_parameters() if not p.equal(before[name])
}
assert changed, "the step changed nothing"
assert all("lora_" in name for name in changed), "a frozen weight has changed"
assert len([name for name in changed if "lora_B" in name]) == len(layers)

# From the second step on, both matrices of each adapter get a gradient, and autocast
# runs the adapters' matmuls in bf16.
formats = set()
for name, module in model.named_modules():
    if name.endswith((".lora_A.default", ".lora_B.default")):
        module.register_forward_hook(lambda *args: formats.add(args[-1].dtype))
for p in trained:
    p.grad.fill_(torch.nan)  # the next step must not add to it
step()
assert len(trained) == 2 * len(layers)
assert all(p.grad.any() for p in trained), "an adapter has no gradient"
assert all(p.grad.isfinite().all() for p in trained), "a gradient was left"
assert formats == {torch.bfloat16}, f"the adapters' matmuls return {formats}"
