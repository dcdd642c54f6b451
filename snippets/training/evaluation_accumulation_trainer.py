# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "        eval_accumulation_steps=2,\n" = "" }
# ///
"""With accumulation steps set, the Trainer moves the logits to host memory after every second batch of an evaluation."""

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


def accuracy(evaluated) -> dict[str, float]:
    """A token's logits are about the next one."""
    words = evaluated.predictions.argmax(-1)
    right = words[:, :-1] == evaluated.label_ids[:, 1:]
    return {"accuracy": right[evaluated.label_ids[:, 1:] != -100].mean()}


# --8<-- [start:enable]
trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out",
        per_device_eval_batch_size=1,
        eval_accumulation_steps=2,
        report_to="none",
    ),
    eval_dataset=tokens,
    compute_metrics=accuracy,
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

# Two texts joined and the second of them alone. On a CPU, where moving to host memory
# copies nothing, the two before them are there as well.
assert len(held.texts) > 6, "too few batches to tell"
assert max(held.texts) <= 5, f"the logits of {max(held.texts)} texts were held"
assert "eval_accuracy" in found, "no metric was computed"
assert 0 <= found["eval_accuracy"] <= 1
# Every second batch joins the one before. Then both are moved, and the next is alone.
# (The first four: what numpy has not copied yet is still there on a CPU.)
pairs = len(held.texts) // 2 - 2
assert held.texts[4:] == [1, 3] * pairs, f"held were the logits of {held.texts}"

# The metric, by hand: of the two labels that count, one is right.
scores = torch.nn.functional.one_hot(torch.tensor([[3, 4, 6, 7]]), 10).numpy()
labels = torch.tensor([[9, 3, 5, -100]]).numpy()
known = accuracy(SimpleNamespace(predictions=scores, label_ids=labels))
assert known == {"accuracy": 0.5}, known
