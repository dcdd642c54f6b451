# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# datasets = ["Salesforce/wikitext"]
# timeout = 180
# ablation = { "torch_compile=True" = "torch_compile=False" }
# ///
"""With torch_compile=True, the Trainer's steps run generated code, and steps of one length compile once."""

import torch
from datasets import load_dataset
from torch._dynamo.utils import counters
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())

# --8<-- [start:enable]
tokens = texts.map(
    lambda row: tokenizer(
        row["text"], padding="max_length", truncation=True, max_length=64
    ),  # one length, so that nothing is compiled twice
    remove_columns=["text"],
)
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        torch_compile=True,
        dataloader_drop_last=True,
        max_steps=3,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]
graphs: list[int] = []


class Graphs(TrainerCallback):
    """Notes after each step how many graphs have been compiled."""

    def on_step_end(self, *args, **kwargs):
        """What the Trainer calls."""
        graphs.append(counters["stats"]["unique_graphs"])


trainer.add_callback(Graphs())

# --8<-- [start:is-it-on]
trainer.train()
generated = counters["inductor"]["fxgraph_cache_miss"]
generated += counters["inductor"]["fxgraph_cache_hit"]
breaks = sum(counters["graph_break"].values())
print(f"{generated} graphs with generated code, {breaks} breaks")
# --8<-- [end:is-it-on]

print(f"graphs after each step: {graphs}", dict(counters["inductor"]))
assert generated >= 1, "no code was generated"
assert breaks == 0, f"the graph breaks at {dict(counters['graph_break'])}"
assert graphs[0] == graphs[-1] >= 1, f"graphs after each step: {graphs}"
