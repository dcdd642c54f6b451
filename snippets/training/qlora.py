# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21", "bitsandbytes>=0.50", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "    quantization_config=quantization," = "    use_cache=False," }
# ///
"""QLoRA stores the linear layers of the blocks in 4-bit NF4 with double quantization, and trains fp32 adapters next to them."""

import warnings
from unittest.mock import patch

import torch
from bitsandbytes.functional import dequantize_4bit
from bitsandbytes.nn import Linear4bit
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
)

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Sixteen values a weight."] * 4, return_tensors="pt").to(device)

# --8<-- [start:enable]
quantization = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    quantization_config=quantization,
    dtype=torch.bfloat16,
    device_map=device,
)
adapter = LoraConfig(
    r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
)
model = get_peft_model(model, adapter).train()
# --8<-- [end:enable]

# NF4: 16 quantiles of a normal distribution, 7 below 0 and 8 above. Blocks of 64 weights
# share a scale, and blocks of 256 scales share a second one. Unpacked, the weights are
# close to those of the checkpoint.
above = torch.special.ndtri(torch.linspace(0.9677083, 0.5, 9)[:-1])
below = -torch.special.ndtri(torch.linspace(0.9677083, 0.5, 8)[:-1])
normal = torch.cat([below, torch.zeros(1), above]).sort().values / above.max()
original = AutoModelForCausalLM.from_pretrained(checkpoint).get_submodule("model")
for name, module in model.get_base_model().model.named_modules():
    if not isinstance(module, Linear4bit):
        continue
    state = module.weight.quant_state
    assert (state.quant_type, state.nested) == ("nf4", True), vars(state)
    assert (state.blocksize, state.state2.blocksize) == (64, 256), vars(state)
    assert module.weight.dtype == torch.uint8
    assert module.compute_dtype == torch.bfloat16, module.compute_dtype
    assert torch.allclose(state.code.cpu(), normal, rtol=0, atol=1e-4), (
        f"the values are {state.code}"
    )
    exact = original.get_parameter(name.removesuffix(".base_layer") + ".weight")
    near = dequantize_4bit(module.weight, state).cpu().float()
    off = (near - exact.float()).norm() / exact.float().norm()
    assert 0.01 < off < 0.15, f"{name} is off by {off:.0%}"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
layers = [m for m in model.modules() if isinstance(m, Linear4bit)]
packed = [(m.weight, m.weight.quant_state) for m in layers]
stored = sum(
    weight.nbytes + scale.absmax.nbytes + scale.state2.absmax.nbytes
    for weight, scale in packed
)
numbers = sum(m.in_features * m.out_features for m in layers)
print(f"{stored / max(1, numbers):.3f} bytes a weight in {len(layers)} layers")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# Half a byte a weight. 64 weights share a scale of one byte, and 256 scales share one
# of four bytes: where the shapes divide, 0.5 + 1 / 64 + 4 / (64 x 256) bytes.
blocks = model.get_base_model().model.layers
assert len(layers) == 7 * len(blocks), f"{len(layers)} layers are in 4 bits"
assert 0.5158 < stored / numbers < 0.52, f"{stored / numbers} bytes a weight"
expected = f"0.516 bytes a weight in {7 * len(blocks)} layers"
assert shown == expected, f"printed was {shown}"
assert model.training, "the model is not in training mode"
embedding = model.get_input_embeddings().weight
rest = {
    name: p.dtype
    for name, p in model.named_parameters()
    if "lora_" not in name and p.dtype != torch.uint8
}
assert any("norm" in name for name in rest), rest
assert any(p is embedding for p in model.parameters()), "no embedding"
assert set(rest.values()) == {torch.bfloat16}, f"not all in bf16: {rest}"

# A step changes the adapters, and not the weights in 4 bits.
trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
assert all("lora_" in n and p.dtype == torch.float32 for n, p in trained.items())
before = {n: p.detach().clone() for n, p in model.named_parameters()}
optimizer = torch.optim.AdamW(trained.values(), lr=1e-3)
with torch.autocast(device, dtype=torch.bfloat16):
    loss = model(**batch, labels=batch["input_ids"]).loss
loss.backward()
optimizer.step()
changed = [n for n, p in model.named_parameters() if not p.equal(before[n])]
assert len([n for n in changed if "lora_B" in n]) == len(layers)
assert all("lora_" in n for n in changed), "a frozen weight has changed"

# What the customary call does to a model that is already frozen: it doubles the bytes
# of all that is not in 4 bits, and of what flows from there.
prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
assert embedding.dtype == torch.float32
assert not any(p.requires_grad for p in model.parameters()), (
    "it freezes adapters, too"
)
