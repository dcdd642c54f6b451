# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21", "accelerate>=1.15", "datasets>=5.2", "safetensors>=0.5"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "model = get_peft_model(model, adapter)" = "pass" }
# ///
"""The Trainer trains only the adapters of a LoRA model, and saves only the adapters."""

import warnings
from pathlib import Path
from unittest.mock import patch

import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from safetensors import safe_open
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
adapter = LoraConfig(
    r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
)
model = get_peft_model(model, adapter)
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        learning_rate=1e-4,
        bf16=True,
        use_cpu=not torch.cuda.is_available(),
        per_device_train_batch_size=8,
        max_steps=2,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

adapted = [m for m in model.modules() if hasattr(m, "lora_A")]
computed = set()  # the data types of what the adapters compute
for module in adapted:
    module.lora_A["default"].register_forward_hook(
        lambda *call: computed.add(call[2].dtype)
    )

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
trainer.train()
trainer.save_model("adapter")

groups = trainer.optimizer.state.values()
states = sum(t.nbytes for group in groups for t in group.values() if t.dim())
files = {path.name: path.stat().st_size for path in Path("adapter").iterdir()}
print(f"{states:,} bytes of optimizer states, saved: {files}")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

blocks = AutoModelForCausalLM.from_pretrained(checkpoint).model.layers
layers = [m for m in blocks.modules() if isinstance(m, torch.nn.Linear)]
numbers = sum(16 * (m.in_features + m.out_features) for m in layers)
assert states == 8 * numbers, f"{states:,} bytes of optimizer states"
sizes = {path.name: len(path.read_bytes()) for path in Path("adapter").iterdir()}
wanted = f"{8 * numbers:,} bytes of optimizer states, saved: {sizes}"
assert shown == wanted, f"printed was {shown}"
with safe_open("adapter/adapter_model.safetensors", "pt") as saved:
    names = list(saved.keys())
    seconds = [saved.get_tensor(name) for name in names if "lora_B" in name]
    total = sum(saved.get_tensor(name).numel() for name in names)
assert all("lora_" in name for name in names), "something else was saved, too"
assert total == numbers, f"{total:,} numbers were saved instead of {numbers:,}"
assert len(seconds) == len(layers)
assert all(bool(t.any()) for t in seconds), "an adapter was saved untrained"
assert computed == {torch.bfloat16}, f"the adapters compute in {computed}"
scales = {module.scaling["default"] for module in adapted}
assert scales == {32 / 16}, f"adapters are scaled by {scales}"
assert sum(files.values()) < 6 * numbers, f"more than adapters was saved: {files}"

# The frozen weights are those of the checkpoint, still in bf16.
original = dict(AutoModelForCausalLM.from_pretrained(checkpoint).named_parameters())
frozen = {n: p for n, p in model.named_parameters() if "lora_" not in n}
assert len(frozen) == len(original)
for name, weight in frozen.items():
    plain = name.removeprefix("base_model.model.").replace(".base_layer", "")
    assert weight.dtype == torch.bfloat16, f"{name} is {weight.dtype}"
    assert weight.cpu().equal(original[plain]), f"{name} has changed"
