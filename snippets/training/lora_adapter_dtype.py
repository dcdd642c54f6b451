# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "model = get_peft_model(base(), adapter, autocast_adapter_dtype=False)" = "model = get_peft_model(base(), adapter)" }
# ///
"""With bf16 weights, each fp32 adapter saves its own fp32 copy of its layer's input; bf16 adapters share one bf16 copy."""

import warnings
from unittest.mock import Mock, patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Who keeps what for backward?"] * 8, return_tensors="pt")
batch = batch.to(device)


def base():
    """The model in bf16, as it was saved."""
    return AutoModelForCausalLM.from_pretrained(
        checkpoint, dtype=torch.bfloat16
    ).to(device)


# --8<-- [start:enable]
adapter = LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM")
model = get_peft_model(base(), adapter, autocast_adapter_dtype=False)
# --8<-- [end:enable]
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
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


default = get_peft_model(base(), adapter)
print(f"saved: {kept(base()):,} bytes without adapters,", end=" ")
print(f"{kept(default):,} with fp32 ones, {kept(model):,} with these")
# --8<-- [end:is-it-on]
shown = " ".join(call.args[0] for call in printed.call_args_list)

# Every layer with an adapter keeps its own input in fp32, 4 bytes a number. With bf16
# adapters, layers with the same input share one of 2 bytes, where nobody else has it.
layers = [m for m in base().model.layers.modules() if type(m) is torch.nn.Linear]
inputs = batch["input_ids"].numel() * sum(m.in_features for m in layers)
more = kept(default) - kept(model)
assert more > 2.5 * inputs, f"{more:,} bytes more for {inputs:,} numbers of input"
found = [f"{kept(each):,}" for each in (base(), default, model)]
wanted = "saved: {} bytes without adapters, {} with fp32 ones, {} with these"
assert shown == wanted.format(*found), f"printed was {shown}"
silent = base().train()
without = Mock(
    parameters=silent.parameters,
    train=lambda: lambda labels=None, **rest: silent(**rest),
)
logits = 4 * batch["input_ids"].numel() * model.config.vocab_size
assert kept(base()) - kept(without) >= logits, "the loss is not among the bytes"
assert kept(default) > kept(base()), "LoRA keeps less than full fine-tuning"
assert {p.dtype for p in default.parameters() if p.requires_grad} == {torch.float32}
assert {p.dtype for p in model.parameters() if p.requires_grad} == {torch.bfloat16}
for each in (default, model):
    frozen = {p.dtype for p in each.parameters() if not p.requires_grad}
    assert frozen == {torch.bfloat16}, f"frozen weights are {frozen}"

# fp32 weights under autocast are worse: a bf16 copy of each weight is kept as well.
weights = sum(layer.weight.numel() for layer in layers)
with torch.autocast(device, dtype=torch.bfloat16):
    more = kept(get_peft_model(base().float(), adapter)) - kept(default)
assert more > 2 * weights, f"{more:,} bytes more for {weights:,} weights"

# add_adapter takes the other default.
other = base()
other.add_adapter(adapter)
assert {p.dtype for p in other.parameters() if p.requires_grad} == {torch.bfloat16}

# Dropout keeps a mask of each adapted layer's input: a byte a number on a GPU, on a CPU
# one number of the input's dtype. Only q, k and v of the first block need none, since
# no gradient goes further down. bf16 adapters then share no input any more.
adapter.lora_dropout = 0.05
first = 3 * batch["input_ids"].numel() * model.config.hidden_size
mask = (1 if device == "cuda" else 4) * (inputs - first)
more = kept(get_peft_model(base(), adapter)) - kept(default)
assert more == mask, f"{more:,} bytes more than without dropout"
mask = (1 if device == "cuda" else 2) * (inputs - first)
dropping = get_peft_model(base(), adapter, autocast_adapter_dtype=False)
more = kept(dropping) - kept(model) - mask
assert more > 0.4 * inputs, f"{more:,} bytes more than without dropout, masks aside"

# Twice the sequences leave twice the bytes, so no weight is among them. (What is the
# same for all sequences, the positions, is less than a hundredth.)
whole = kept(base())
batch = {name: tensor[:4] for name, tensor in batch.items()}
assert abs(whole - 2 * kept(base())) < whole / 100, "weights were counted"
