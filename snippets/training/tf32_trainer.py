# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# needs = ["cuda"]
# ablation = { "tf32=True" = "tf32=False" }
# ///
"""The Trainer's tf32 argument rounds the inputs of fp32 matmuls to TF32, in training and after it."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    tf32=True,
    max_steps=2,
    save_strategy="no",
    report_to="none",
)
# --8<-- [end:enable]
# --8<-- [start:is-it-on]
print(torch.backends.cuda.matmul.fp32_precision)  # on: tf32, off: ieee or none
# --8<-- [end:is-it-on]
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
errors: list[float] = []


def compare(head: torch.nn.Module, args: tuple, logits: torch.Tensor) -> None:
    """How far the LM head's matmul is from the exact one."""
    exact = args[0].double() @ head.weight.double().T
    errors.append(((logits.double() - exact).norm() / exact.norm()).item())


model.lm_head.register_forward_hook(compare)
trainer.train()
print(f"the LM head's matmul is off by up to {max(errors):.0e}")
assert min(errors) > 1e-5, f"off by {min(errors):.0e}: matmuls run in fp32"
assert max(errors) < 1.5e-3, f"off by {max(errors):.0e}: matmuls run in bf16"

# After training, the setting stays.
assert trainer.state.global_step == 2
errors.clear()
with torch.no_grad():
    model(input_ids=torch.tensor([tokens[0]["input_ids"]], device="cuda"))
assert 1e-5 < errors[0] < 1.5e-3, f"off by {errors[0]:.0e} after training"
assert {p.dtype for p in model.parameters()} == {torch.float32}
