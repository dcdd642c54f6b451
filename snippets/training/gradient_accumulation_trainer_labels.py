# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'model.loss_type = "ForCausalLM"' = 'model.loss_type = None' }
# ///
"""With loss_type set, the Trainer does not count the first token of a sequence as a label. Without it, GPT-2's loss is too small."""

from unittest.mock import patch

import torch
from datasets import Dataset
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
texts = ["One line. " * count for count in (1, 2, 3, 5, 8, 13, 21, 34)]
tokens = Dataset.from_list(
    [{"input_ids": tokenizer(text)["input_ids"]} for text in texts]
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)


def load():
    """GPT-2 without dropout, so that losses can be compared."""
    model = AutoModelForCausalLM.from_pretrained(
        checkpoint,
        dtype=torch.float32,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    model.register_forward_hook(lambda *_: graphs.append(torch.is_grad_enabled()))
    return model


graphs = []  # of each forward pass: does it build one?
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def first_loss(model):
    """What the Trainer logs, and trains with, in its first step."""
    trainer = Trainer(
        model,
        TrainingArguments(
            output_dir="out",
            per_device_train_batch_size=2,
            gradient_accumulation_steps=4,
            max_steps=1,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
        ),
        train_dataset=tokens,
        data_collator=collator,
    )
    trainer.train()
    return trainer.state.log_history[0]["loss"]


model = load()
batch = collator(list(tokens)).to(model.device)
labels = (batch["labels"][:, 1:] != -100).sum().item()
with torch.no_grad():
    right = model(**batch).loss.item()
print(f"the loss is {right:.4f}, of {labels} labels in {len(tokens)} sequences")
print(f"loss_type is {model.loss_type}: the Trainer says {first_loss(model):.4f}")
# --8<-- [end:is-it-on]
shown = [c.args[0] for c in printed.call_args_list if type(c.args[0]) is str]
assert graphs[:2] == [False, True], "the loss of all labels has a graph"

# --8<-- [start:enable]
model = load()
model.loss_type = "ForCausalLM"  # not in the config: it is not read there
# --8<-- [end:enable]
fixed = first_loss(model)
print(f"loss_type is {model.loss_type}: the Trainer says {fixed:.4f}")

# The proof: the loss of the step is that of all sequences at once; without the type, it is too small by this factor.
assert abs(fixed - right) < 1e-4 * right, f"{fixed} was logged instead of {right}"
without = first_loss(load())
too_small = without / right
expected = labels / (labels + len(tokens))
print(
    f"too small by {too_small:.4f}, labels / (labels + sequences): {expected:.4f}"
)
counts = [len(row["input_ids"]) - 1 for row in tokens]
model = load().eval().requires_grad_(requires_grad=False)
means = [
    model(input_ids=ids, labels=ids).loss.item()
    for ids in (torch.tensor([row["input_ids"]]) for row in tokens)
]
alone = sum(m * n for m, n in zip(means, counts, strict=True)) / sum(counts)
assert abs(alone - right) < 1e-4, f"{right} is not the loss of all labels, {alone}"
whole = (
    f"the loss is {right:.4f}, of {sum(counts)} labels in {len(texts)} sequences"
)
assert shown[0] == whole, f"printed was {shown[0]}"
wanted = f"loss_type is None: the Trainer says {without:.4f}"
assert shown[1:] == [wanted], f"printed was {shown[1:]}"
assert abs(too_small - expected) < 1e-4, f"the ratio is {too_small}"
