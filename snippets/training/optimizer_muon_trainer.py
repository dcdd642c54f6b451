# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2",
# ]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# timeout = 240
# ablation = { "optimizer_cls_and_kwargs=(lambda: MuonWithAdamW, {\"lr\": 1e-4})," = "" }
# ///
"""The Trainer accepts an optimizer class that gives the matrices of the blocks to Muon and all other weights to AdamW. Its state can be saved and loaded."""

import copy
from unittest.mock import patch

import torch
from datasets import load_dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
before = {name: p.detach().clone() for name, p in model.named_parameters()}


# --8<-- [start:enable]
class MuonWithAdamW(torch.optim.Optimizer):
    """Muon for the matrices of the blocks, AdamW for all other weights."""

    def __init__(self, model, lr):
        inner = [p for p in model.model.layers.parameters() if p.ndim == 2]
        theirs = set(inner)  # the list keeps the order, by which states are loaded
        others = [p for p in model.parameters() if p not in theirs]
        self.parts = [
            torch.optim.Muon(inner, lr=lr, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, lr=lr, weight_decay=0.1, fused=True),
        ]
        super().__init__([part.param_groups[0] for part in self.parts], {})

    def step(self, closure=None):
        """One step of each, with the groups and states that a checkpoint holds."""
        loss = closure() if closure else None
        for part, group in zip(self.parts, self.param_groups, strict=True):
            part.param_groups, part.state = [group], self.state
            part.step()
        return loss


# --8<-- [end:enable]

# --8<-- [start:use]
trainer = Trainer(
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
    optimizer_cls_and_kwargs=(lambda: MuonWithAdamW, {"lr": 1e-4}),
)
trainer.train()
# --8<-- [end:use]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
state = trainer.optimizer.state
kept = {
    name: sum(v.nbytes for v in state[p].values() if v.ndim) / p.numel()
    for name, p in model.named_parameters()
}
print(kept)  # 4.0 for the matrices of the blocks, 8.0 for all else
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

for name, p in model.named_parameters():
    inner = ".layers." in name and p.ndim == 2
    assert kept[name] == (4 if inner else 8), f"{name}: {kept[name]} bytes"
    assert shown[name] == kept[name], f"printed was {shown[name]} for {name}"
    assert not before[name].equal(p.detach().cpu()), f"{name} was not updated"

assert list(shown) == list(before), f"printed was {shown}"

fresh = MuonWithAdamW(model, lr=1e-3)
for part in fresh.parts:
    chosen = part.defaults["lr"], part.defaults["weight_decay"]
    assert chosen == (1e-3, 0.1), f"{type(part)} has rate and decay {chosen}"
assert fresh.parts[1].defaults["fused"], "AdamW is not fused"
assert fresh.step(lambda: 3.0) == 3.0, "the step does not return the loss"
assert fresh.parts[0].defaults["adjust_lr_fn"] == "match_rms_adamw"
parts = trainer.optimizer.optimizer.parts
assert [type(part) for part in parts] == [torch.optim.Muon, torch.optim.AdamW]

# A checkpoint files states by position: the order is the model's, in every process.
names = {p: name for name, p in model.named_parameters()}
groups = [
    [name for name, p in model.named_parameters() if (kept[name] == 4) is of_muon]
    for of_muon in (True, False)
]
for group, expected in zip(trainer.optimizer.param_groups, groups, strict=True):
    assert [names[p] for p in group["params"]] == expected, "another order"

# The scheduler reached both parts, and a saved state goes on where it stopped.
for group in trainer.optimizer.param_groups:
    chosen = group["initial_lr"], group["weight_decay"]
    assert chosen == (1e-4, 0.1), f"it trained with rate and decay {chosen}"
rates = {group["lr"] for group in trainer.optimizer.param_groups}
assert len(rates) == 1, rates
assert rates != {1e-4}, "the scheduler did not change the rate"
twin = copy.deepcopy(model)
ours, theirs = MuonWithAdamW(model, lr=1e-4), MuonWithAdamW(twin, lr=1e-4)
batch = trainer.data_collator([tokens[0], tokens[1]]).to(model.device)


def step(model, optimizer):
    model(**batch).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


model.eval(), twin.eval()
step(model, ours)
step(twin, theirs)
fresh = MuonWithAdamW(twin, lr=1e-4)
fresh.load_state_dict(theirs.state_dict())
step(model, ours)
step(twin, fresh)
for one, other in zip(model.parameters(), twin.parameters(), strict=True):
    assert torch.allclose(one, other, rtol=0, atol=1e-6), (
        "a loaded state goes on elsewhere"
    )
