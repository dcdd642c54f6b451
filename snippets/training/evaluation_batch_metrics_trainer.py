# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "batch_eval_metrics=True" = "batch_eval_metrics=False" }
# ///
"""In evaluation, the Trainer hands each batch to the metric and keeps no logits. The result counts all batches."""

import gc
from types import SimpleNamespace

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
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="validation"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)


# --8<-- [start:enable]
class Accuracy:
    """Sums up batch by batch; its arguments are tensors on the GPU."""

    right = total = 0

    def __call__(self, evaluated, *, compute_result=True) -> dict[str, float]:
        """A token's logits are about the next one."""
        wanted = evaluated.label_ids[:, 1:]
        found = evaluated.predictions.argmax(-1)[:, :-1]
        self.right += (found == wanted).sum()
        self.total += (wanted != -100).sum()
        if not compute_result:
            return {}
        mean = {"accuracy": float(self.right / self.total)}
        self.right = self.total = 0
        return mean


trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_eval_batch_size=2,
        batch_eval_metrics=True,
        report_to="none",
    ),
    eval_dataset=tokens,
    compute_metrics=Accuracy(),
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]


class Held(TrainerCallback):
    """How many texts' logits are there after each batch?"""

    def __init__(self) -> None:
        self.texts = []

    def on_prediction_step(self, *_args, **_rest) -> None:
        """Look through everything that Python knows."""
        alive = [t for t in gc.get_objects() if type(t) is torch.Tensor]
        words = model.config.vocab_size
        logits = [t for t in alive if t.dim() == 3 and t.shape[2] == words]
        texts = {t.data_ptr(): len(t) for t in logits}
        self.texts.append(sum(texts.values()))


held = Held()
trainer.add_callback(held)
found = trainer.evaluate()
print("logits held after each batch, in texts:", held.texts)

assert "eval_accuracy" in found, "no metric was computed"
assert len(held.texts) > 3, "too few batches to tell"
assert max(held.texts) <= 2, f"the logits of {max(held.texts)} texts were held"
# All of it, and not the last batch alone.
with torch.no_grad():
    right = total = 0
    for row in tokens:
        ids = torch.tensor([row["input_ids"]], device=model.device)
        wanted = ids[:, 1:]
        counted = wanted != tokenizer.pad_token_id
        words = model(ids).logits.argmax(-1)[:, :-1]
        right += ((words == wanted) & counted).sum().item()
        total += counted.sum().item()
assert abs(found["eval_accuracy"] - right / total) < 1e-6

# Two batches made by hand: one of two labels right, then one of one; and then afresh.
metric = trainer.compute_metrics
for result in (False, True, False, True):
    most, labels = (
        ([3, 4, 7, 0], [9, 3, 5, -100]) if not result else ([8, 0], [0, 8])
    )
    scores = torch.nn.functional.one_hot(torch.tensor([most]), 10).float()
    batch = SimpleNamespace(predictions=scores, label_ids=torch.tensor([labels]))
    known = metric(batch, compute_result=result)
    assert known == ({"accuracy": float(torch.tensor(2) / 3)} if result else {}), (
        known
    )
    assert all(type(value) is float for value in known.values()), known
