# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# datasets = ["Salesforce/wikitext"]
# timeout = 240
# ablation = { "torch_compile=True" = "torch_compile=False" }
# ///
"""With torch_compile, the Trainer runs one compiled graph in every step, because all batches have one shape."""

from unittest.mock import patch

import torch
from datasets import load_dataset
from torch._dynamo.utils import counters
from torch.profiler import profile
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())

tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
).select(range(10))  # two batches of four, and two rows that are left over
# --8<-- [start:enable]
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
    data_collator=DataCollatorForLanguageModeling(
        tokenizer, mlm=False, pad_to_multiple_of=64
    ),
)
# --8<-- [end:enable]

loader = trainer.get_train_dataloader()
shapes = {tuple(batch["input_ids"].shape) for batch in loader}
assert shapes == {(4, 64)}, f"the batches have the shapes {shapes}"
short = trainer.data_collator([tokenizer("Short.")])["input_ids"]
assert short.shape == (1, 64), "a batch of short texts has another shape"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    trainer.train()  # three steps
rows = [row for row in trace.key_averages() if "Compiled Region" in row.key]
runs = max((row.count for row in rows), default=0)
graphs = counters["stats"]["unique_graphs"]
breaks = sum(counters["graph_break"].values())
print(f"{graphs} graph, {breaks} breaks, run {runs} times")
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

generated = counters["inductor"]["fxgraph_cache_miss"]
generated += counters["inductor"]["fxgraph_cache_hit"]
assert graphs == 1, f"{graphs} graphs were compiled"
assert breaks == 0, f"the graph breaks at {dict(counters['graph_break'])}"
assert runs == 3, f"compiled code ran {runs} times in 3 steps"
assert shown == "1 graph, 0 breaks, run 3 times", f"printed was {shown}"
assert generated >= 1, "no code was generated"
assert trainer.state.global_step == 3
