# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "model.activation_checkpointing_enable()" = "pass" }
# ///
"""With activation checkpointing of a LoRA model, every block runs twice, and every adapter gets the same gradient as without."""

import warnings
from collections import Counter
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Frozen, and run twice."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
adapter = LoraConfig(
    r=16,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
    init_lora_weights=False,  # no matrix starts at 0, so each gets a gradient
)
model = get_peft_model(model, adapter).to(device).train()
model.config.use_cache = False


def gradients() -> dict[str, torch.Tensor | None]:
    """What one backward pass leaves in the adapters."""
    model.zero_grad()
    model(**batch, labels=batch["input_ids"]).loss.backward()
    named = model.named_parameters()
    return {name: p.grad for name, p in named if p.requires_grad}


reference = gradients()

# --8<-- [start:enable]
model.activation_checkpointing_enable()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
runs = []
block = model.get_base_model().model.layers[0]
block.mlp.register_forward_pre_hook(lambda *args: runs.append(1))

found = gradients()
without = [name for name, gradient in found.items() if gradient is None]
print(f"the block ran {len(runs)} times, {len(without)} adapters", end=" ")
print("have no gradient")  # on: 2 times, 0 adapters
# --8<-- [end:is-it-on]
shown = "".join(
    call.args[0] + call.kwargs.get("end", "\n") for call in printed.call_args_list
)

assert len(runs) == 2, f"the block ran forward {len(runs)} times"
assert not without, f"{len(without)} adapters have no gradient"
text = "the block ran 2 times, 0 adapters have no gradient\n"
assert shown == text, f"printed was {shown}"
blocks = model.get_base_model().model.layers
assert len(found) == 2 * 7 * len(blocks), f"{len(found)} matrices are trained"
for name, gradient in found.items():
    assert "lora_" in name, f"{name} is not frozen"
    assert gradient.any(), f"the gradient of {name} is 0"
    assert torch.allclose(gradient, reference[name], rtol=1e-6, atol=1e-5), (
        f"{name} has another gradient"
    )
counted = Counter()
for number, each in enumerate(blocks):
    each.mlp.register_forward_pre_hook(lambda *_, n=number: counted.update([n]))
gradients()
assert counted == dict.fromkeys(range(len(blocks)), 2), f"blocks ran {counted}"

# What makes it work. Nothing that goes into the first block is trained. The checkpoints
# that transformers chooses, use_reentrant=False, do not mind. The old ones do: unless
# the embedding's output is made to require a gradient, the blocks get none.
model.get_base_model().disable_input_require_grads()
for name, gradient in gradients().items():
    assert torch.allclose(gradient, reference[name], rtol=1e-6, atol=1e-5), (
        f"{name} has another gradient"
    )
model.activation_checkpointing_enable({"use_reentrant": True})
for name, gradient in gradients().items():
    assert torch.allclose(gradient, reference[name], rtol=1e-6, atol=1e-5), (
        f"{name} has another gradient"
    )
model.get_base_model().disable_input_require_grads()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # None of the inputs have requires_grad=True
    try:
        gradients()
        reason = "nothing failed"
    except RuntimeError as error:
        reason = str(error)
assert "does not require grad" in reason, reason
