# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "trainer = ChunkedTrainer(" = "trainer = Trainer(" }
# ///
"""The Trainer computes a chunked loss where a subclass overrides compute_loss; the model's own logits never exist."""

import torch
from datasets import load_dataset
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint
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
model.loss_type = "ForCausalLM"  # labels are counted as they are shifted
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)


def chunked_loss(model, labels, *, labels_of_step=None, chunk=512, **inputs):
    """The same function as in chunked_loss.py."""
    head = model.get_output_embeddings()
    hidden = model.base_model(**inputs).last_hidden_state.flatten(0, 1)
    labels = pad(labels, (0, 1), value=-100)[:, 1:].flatten()

    def summed(states, wanted):
        return cross_entropy(head(states).float(), wanted, reduction="sum")

    parts = zip(hidden.split(chunk), labels.split(chunk), strict=True)
    sums = [checkpoint(summed, *part, use_reentrant=False) for part in parts]
    if labels_of_step is None:
        labels_of_step = (labels != -100).sum()
    return torch.stack(sums).sum() / labels_of_step


# How many rows of logits does the head make at a time?
rows = []
model.lm_head.register_forward_hook(
    lambda module, args, logits: rows.append(logits.shape[:-1].numel())
)


# --8<-- [start:enable]
class ChunkedTrainer(Trainer):
    """Trains with the chunked loss, and evaluates with the model's own."""

    def compute_loss(self, model, inputs, **options):
        """What the Trainer calls; in evaluation it wants the logits, too."""
        if options.get("return_outputs"):
            return super().compute_loss(model, inputs, **options)
        labels = options.get("num_items_in_batch")
        return chunked_loss(model, labels_of_step=labels, **inputs)


trainer = ChunkedTrainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=2,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
# --8<-- [end:enable]

print(f"the head made at most {max(rows)} rows of logits at a time")
assert max(rows) <= 512, f"the head made {max(rows)} rows of logits at once"
trained = trainer.state.log_history[-1]["train_loss"]
assert 0 < trained < 20, f"the loss is {trained}"
batch = trainer.data_collator([tokens[0], tokens[1]]).to(model.device)
model.eval()
with torch.no_grad():
    full, chunked = model(**batch).loss, chunked_loss(model, **batch)
assert torch.allclose(chunked, full), f"the loss is {chunked} instead of {full}"
evaluated = trainer.evaluate(tokens.select(range(8)))["eval_loss"]
assert 0 < evaluated < 20, f"the loss in evaluation is {evaluated}"
