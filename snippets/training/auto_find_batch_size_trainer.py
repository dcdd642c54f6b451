# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "auto_find_batch_size=True" = "auto_find_batch_size=False" }
# ///
"""After each out-of-memory error, the Trainer starts again with nine tenths of the batch. It keeps the weights that it has trained."""

from contextlib import suppress
from unittest.mock import patch

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
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
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=10,  # where it starts
    auto_find_batch_size=True,
    max_steps=3,
    save_strategy="no",
    report_to="none",
)
# --8<-- [end:enable]
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)

sizes = []
initial = model.lm_head.weight.detach().cpu().clone()
at_restart = []


def small_card(_module, _args, batch) -> None:
    """Nine texts are too many for it, and so is the third batch of ten."""
    sizes.append(len(batch["input_ids"]))
    if sizes[-1] == 9:
        at_restart.append(model.lm_head.weight.detach().cpu().clone())
    if sizes[-1] == 9 or sizes == [10, 10, 10]:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")


model.register_forward_pre_hook(small_card, with_kwargs=True)


class Updates(TrainerCallback):
    """Counts the updates of the weights."""

    count = 0

    def on_optimizer_step(self, *_args, **_rest) -> None:
        """Called after each of them."""
        self.count += 1


updates = Updates()
trainer.add_callback(updates)

printed = patch("builtins.print", wraps=print).start()
with suppress(torch.OutOfMemoryError):
    # --8<-- [start:is-it-on]
    trainer.train()
    found = trainer.state.train_batch_size
    print("batch size in the end:", found)
    # --8<-- [end:is-it-on]
    print("batches", sizes)
    print("steps", trainer.state.global_step, "updates", updates.count)

assert sizes == [10, 10, 10, 9, 8, 8, 8], f"it tried batches of {sizes}"
assert trainer.state.global_step == 3, "the run did not reach its end"
# What breaks: two updates were made before the error, and no one took them back.
assert updates.count == 5, f"{updates.count} updates were made"
assert not at_restart[0].equal(initial), "the second try began with new weights"
assert found == 8, f"the size that it ended with is not {found}"
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert "batch size in the end: 8" in shown, f"printed was {shown}"
assert arguments.per_device_train_batch_size == 10, "the arguments have changed"
