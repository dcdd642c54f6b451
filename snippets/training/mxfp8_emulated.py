# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "quantize_(model, config, filter_fn=convert)" = "pass" }
# ///
"""torchao's MXFP8 training quantizes the inputs of all three matmuls of a linear layer in blocks of 32. Its emulated recipe runs on any device."""

from unittest.mock import patch

import torch
from torchao.prototype.moe_training.config import (
    MXFP8TrainingOpConfig,
    MXFP8TrainingRecipe,
)
from torchao.quantization import quantize_
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
batch = tokenizer(
    ["One scale for 32 numbers."] * 4,
    padding="max_length",
    max_length=32,
    return_tensors="pt",
).to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
model = model.to(device).train()
expected = model(**batch, labels=batch["input_ids"]).loss.item()


def enable(model):
    """Run the code of the page; return its filter and configuration."""

    # --8<-- [start:enable]
    def convert(module: torch.nn.Module, name: str) -> bool:
        return isinstance(module, torch.nn.Linear) and "lm_head" not in name

    blackwell = (
        torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 10
    )
    recipe = (
        MXFP8TrainingRecipe.MXFP8_RCEIL  # B200, compute capability 10
        if blackwell
        else MXFP8TrainingRecipe.MXFP8_EMULATED_RCEIL  # slow; to try the numerics
    )
    config = MXFP8TrainingOpConfig.from_recipe(recipe)
    quantize_(model, config, filter_fn=convert)
    # --8<-- [end:enable]
    return convert, config


convert, config = enable(model)

optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loss = model(**batch, labels=batch["input_ids"]).loss
loss.backward()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
wrapped = [
    name
    for name, weight in model.named_parameters()
    if "MXFP8" in type(weight).__name__ or "MXFP8" in type(weight.data).__name__
]
print(len(wrapped), "weights take part in MXFP8 matmuls")
# --8<-- [end:is-it-on]
shown = " ".join(map(str, printed.call_args.args))

# Compute capability 10 gets real kernels. Older and newer GPUs do not.
for major, kernels in ((9, "EMULATED"), (10, "AUTO"), (12, "EMULATED")):
    with (
        patch("torch.cuda.is_available", return_value=True),
        patch("torch.cuda.get_device_capability", return_value=(major, 0)),
    ):
        chosen = enable(torch.nn.Sequential())[1].kernel_preference.name
    assert chosen == kernels, f"compute capability {major} gets {chosen}"
linear = [n for n, m in model.named_modules() if convert(m, n)]
assert len(linear) == 7 * model.config.num_hidden_layers
assert len(wrapped) == len(linear), f"{len(wrapped)} of {len(linear)} weights"
assert shown == f"{len(linear)} weights take part in MXFP8 matmuls", shown
# The proof: output and both gradients of a layer differ from bf16 by the rounding of 8 bits.
torch.manual_seed(0)
layer = torch.nn.Linear(256, 128, bias=False, dtype=torch.bfloat16, device=device)
inputs = torch.randn(64, 256, dtype=torch.bfloat16, device=device)
seed = torch.randn(64, 128, dtype=torch.bfloat16, device=device)


def three_products(layer):
    """Output, input gradient and weight gradient."""
    given = inputs.clone().requires_grad_()
    output = layer(given)
    (input_gradient, weight_gradient) = torch.autograd.grad(
        output, (given, layer.weight), seed
    )
    return [t.detach().float() for t in (output, input_gradient, weight_gradient)]


exact = three_products(layer)
one = torch.nn.Sequential(layer)
quantize_(
    one, config, filter_fn=lambda module, _: isinstance(module, torch.nn.Linear)
)
for found, wanted in zip(three_products(one[0]), exact, strict=True):
    apart = ((found - wanted).norm() / wanted.norm()).item()
    assert 0.01 < apart < 0.1, f"a matmul is off by {apart:.1%}"

# Weights, gradients and the optimizer step keep their type. The loss is near that of bf16.
optimizer.step()
assert {p.dtype for p in model.parameters()} == {torch.bfloat16}
assert all(p.grad.dtype == torch.bfloat16 for p in model.parameters())
assert abs(loss.item() - expected) < 0.05 * expected, (loss.item(), expected)
