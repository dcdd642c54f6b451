# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { "    preprocess_logits_for_metrics=most_likely,\n" = "", "evaluated.predictions[:, :-1]" = "evaluated.predictions.argmax(-1)[:, :-1]" }
# ///
"""In evaluation, the Trainer keeps one number per token, and not one per token and entry of the vocabulary."""

import gc
from types import SimpleNamespace
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
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="validation"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)


# --8<-- [start:enable]
def most_likely(logits: torch.Tensor, _labels: torch.Tensor) -> torch.Tensor:
    """What is kept of a batch's logits, on the GPU."""
    return logits.argmax(-1)


def accuracy(evaluated) -> dict[str, float]:
    """A token's logits are about the next one."""
    right = evaluated.predictions[:, :-1] == evaluated.label_ids[:, 1:]
    return {"accuracy": right[evaluated.label_ids[:, 1:] != -100].mean()}


trainer = Trainer(
    model,
    TrainingArguments(
        output_dir="out", per_device_eval_batch_size=2, report_to="none"
    ),
    eval_dataset=tokens,
    compute_metrics=accuracy,
    preprocess_logits_for_metrics=most_likely,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]


one_hot = torch.nn.functional.one_hot(torch.tensor([[3, 4]]), 10)
assert most_likely(one_hot, None).tolist() == [[3, 4]], "not the most likely tokens"
assert trainer.preprocess_logits_for_metrics is most_likely, "all logits are kept"


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
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
# --8<-- [end:is-it-on]
shown = printed.call_args.args

batches = -(-len(tokens) // trainer.args.eval_batch_size)
assert batches > 3, "too few batches to tell"
assert not any(held.texts), f"the logits of {max(held.texts)} texts were held"
assert shown == ("logits held after each batch, in texts:", [0] * batches), shown
# Without the function, the same count grows.
everything = Held()
Trainer(
    model,
    trainer.args,
    eval_dataset=tokens.select(range(8)),
    compute_metrics=lambda _: {},
    data_collator=trainer.data_collator,
    callbacks=[everything],
).evaluate()
assert everything.texts[-1] == 8 + 2, f"counted {everything.texts} texts"
assert "eval_accuracy" in found, "no metric was computed"
assert 0 <= found["eval_accuracy"] <= 1
# The same figure as by hand, from the logits of one text.
ids = torch.tensor([tokens[0]["input_ids"]], device=model.device)
right = model(ids).logits.argmax(-1)[:, :-1] == ids[:, 1:]
alone = trainer.evaluate(tokens.select([0]))["eval_accuracy"]
assert (
    abs(alone - right[ids[:, 1:] != tokenizer.pad_token_id].float().mean()) < 1e-6
)
# A metric made by hand, and what the Trainer hands it: a number per token.
labels, most = torch.tensor([[9, 3, 5, -100]]), torch.tensor([[3, 4, 6, 7]])
known = accuracy(
    SimpleNamespace(predictions=most.numpy(), label_ids=labels.numpy())
)
assert known == {"accuracy": 0.5}, known
predicted = trainer.predict(tokens.select(range(4)))
assert predicted.predictions.shape == predicted.label_ids.shape
