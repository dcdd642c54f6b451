# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "tokens.select(longest)" = "tokens" }
# ///
"""Two steps on the longest texts are the worst case of a run: the second one also has the optimizer states in memory."""

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=1024),
    remove_columns=["text"],
)

# --8<-- [start:enable]
batch_size = 4
lengths = [len(ids) for ids in tokens["input_ids"]]
longest = sorted(range(len(lengths)), key=lengths.__getitem__)[-batch_size:]
trial = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=batch_size,
        max_steps=2,  # the second step has optimizer states
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens.select(longest),
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]

# --8<-- [start:is-it-on]
seen = []  # the shape of each batch, and how many weights have states by then
model.register_forward_pre_hook(
    lambda module, args, batch: seen.append(
        (tuple(batch["input_ids"].shape), len(trial.optimizer.state))
    ),
    with_kwargs=True,
)
trial.train()
print(f"{seen}, and the longest text has {max(lengths)} tokens")
# --8<-- [end:is-it-on]

states = len(list(model.parameters()))
wanted = [((batch_size, max(lengths)), 0), ((batch_size, max(lengths)), states)]
assert seen == wanted, f"the batches were {seen}, and not {wanted}"
