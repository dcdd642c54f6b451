# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "    activation_checkpointing=True,\n" = "", "    bf16=True,\n" = "", "    gradient_accumulation_steps=4,\n" = "" }
# ///
"""Mixed precision, gradient checkpointing, gradient accumulation and the fused AdamW work together in the Trainer."""

from unittest.mock import patch

# --8<-- [start:enable]
import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"  # your model
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=2,  # as many as fit
    gradient_accumulation_steps=4,
    bf16=True,
    activation_checkpointing=True,
    optim="adamw_torch_fused",  # the default
    use_cpu=not torch.cuda.is_available(),
    max_steps=2,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

forwards = []  # sequences per forward pass; checkpointing does not repeat the LM head
model.lm_head.register_forward_hook(lambda *args: forwards.append(len(args[-1])))
again = []  # the last layer's runs
model.model.layers[-1].input_layernorm.register_forward_hook(
    lambda *args: again.append(1)
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
layer = model.model.layers[0].self_attn.q_proj
seen = []  # the data type of the first layer's first matmul, per run
layer.register_forward_hook(lambda *args: seen.append(args[-1].dtype))

trainer.train()
runs = len(seen) / trainer.state.global_step
print(f"{runs:.0f} runs per step, matmuls in {set(seen)}")  # on: 8, bfloat16
updates = trainer.optimizer.optimizer
print(type(updates).__name__, updates.defaults["fused"])  # on: AdamW True
# --8<-- [end:is-it-on]
shown = [call.args for call in printed.call_args_list][-2:]

assert layer is model.model.layers[0].self_attn.q_proj, "not the first matmul"
assert set(seen) == {torch.bfloat16}, f"the matmuls give {set(seen)}"
assert trainer.state.global_step == 2
text = "8 runs per step, matmuls in {torch.bfloat16}"
assert shown == [(text,), ("AdamW", True)], f"printed was {shown}"
assert forwards == [2] * 4 * 2, f"forward passes of {forwards} sequences"
assert len(again) == len(seen), "the last layer was not checkpointed"
weights = {p.dtype for p in model.parameters()}
assert weights == {torch.float32}, f"the weights are {weights}"
for weight in model.parameters():
    weight.grad = torch.zeros_like(weight)
with torch.profiler.profile() as trace:
    updates.step()
assert "aten::_fused_adamw_" in {row.key for row in trace.key_averages()}
assert runs == 2 * 4, f"{runs} runs per step: not 4 forward, and 4 once more"
