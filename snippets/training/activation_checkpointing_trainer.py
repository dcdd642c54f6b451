# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "activation_checkpointing=True" = "activation_checkpointing=False" }
# ///
"""One argument of the Trainer makes every block run twice in each training step."""

from collections import Counter

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
model = AutoModelForCausalLM.from_pretrained(checkpoint)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)

# Count how often each block runs in two steps, and save the weights for comparison.
runs: Counter[int] = Counter()
for number, block in enumerate(model.transformer.h):
    block.mlp.register_forward_pre_hook(lambda *_, n=number: runs.update([n]))
before = [p.detach().clone() for p in model.parameters()]

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    activation_checkpointing=True,
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
trainer.train()
# --8<-- [end:enable]

print(f"runs of each block in {trainer.state.global_step} steps: {dict(runs)}")
assert trainer.state.global_step == 2
assert runs == dict.fromkeys(range(model.config.n_layer), 4), f"blocks ran {runs}"
pairs = zip(before, model.parameters(), strict=True)
assert not any(old.equal(new.cpu()) for old, new in pairs), "a weight did not move"
