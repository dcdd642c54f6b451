# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "    DataCollatorWithFlattening," = "    DataCollatorForLanguageModeling,", "data_collator=DataCollatorWithFlattening()" = "data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)" }
# ///
"""With the flattening collator, the Trainer sends no padding through the model, and no sequence sees another one."""

from unittest.mock import patch

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorWithFlattening,
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
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)

# How many rows does the head get?
rows = []
hook = model.lm_head.register_forward_hook(
    lambda module, args, output: rows.append(output.shape[:-1].numel())
)

# --8<-- [start:enable]
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        num_train_epochs=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorWithFlattening(),
)
trainer.train()
# --8<-- [end:enable]

hook.remove()
lengths = [len(ids) for ids in tokens["input_ids"]]
assert sum(rows) == sum(lengths), (
    f"{sum(rows)} rows for {sum(lengths)} tokens: there is padding"
)

columns = set(next(iter(trainer.get_train_dataloader())))
assert columns == {"input_ids", "position_ids", "labels"}, f"batches have {columns}"

printed = patch("builtins.print", wraps=print).start()


def check():
    # --8<-- [start:is-it-on]
    batch = next(iter(trainer.get_train_dataloader())).copy()
    batch.pop("labels")
    model.eval()  # without dropout
    first = int((batch["position_ids"][0] == 0).nonzero()[1])  # its length
    with torch.no_grad():
        before = model(**batch).logits[0, first:]
        batch["input_ids"][:, :first] = 7  # the first sequence, and no other
        apart = (model(**batch).logits[0, first:] - before).abs().max()
    print(f"the other sequences move by {apart:.2g}")  # on: 0
    # --8<-- [end:is-it-on]
    return batch, first, apart


batch, first, apart = check()
shown = printed.call_args.args[0]

assert apart == 0, f"another sequence moves the logits by {apart:.2g}"
assert shown == "the other sequences move by 0", f"printed was {shown}"
assert not apart.requires_grad, "the check saved activations"
positions = batch["position_ids"][0].tolist()
assert first == positions.index(0, 1), f"a sequence of {first} tokens is first"
assert (batch["input_ids"][:, :first] == 7).all(), "the first sequence is as it was"
with torch.no_grad():  # a change does reach the first sequence
    changed = model(**batch).logits[0, :first]
    batch["input_ids"][:, :first] = 8
    assert (model(**batch).logits[0, :first] - changed).abs().max() > 0.01
model.config.use_cache = True  # then transformers lets sequences see each other
check()
moved = float(
    printed.call_args.args[0].removeprefix("the other sequences move by ")
)
assert moved > 0.001, f"the check sees no sequence that moves: {moved}"
trained = trainer.state.log_history[-1]["train_loss"]
assert 0 < trained < 20, f"the loss is {trained}"
