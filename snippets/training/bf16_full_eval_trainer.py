# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "bf16_full_eval=True" = "bf16_full_eval=False" }
# ///
"""bf16_full_eval casts the weights before an evaluation of its own, not before those of train(), and leaves them bf16."""

import contextlib
import io

import torch
from datasets import load_dataset
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
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="validation"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=32),
    remove_columns=["text"],
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
arguments = TrainingArguments(
    output_dir="out",
    bf16_full_eval=True,
    use_cpu=not torch.cuda.is_available(),
    eval_strategy="steps",
    eval_steps=1,
    max_steps=1,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    eval_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
seen: set[tuple[bool, torch.dtype]] = set()  # in training?, and the weight's type
model.lm_head.register_forward_hook(
    lambda head, *_: seen.add((head.training, head.weight.dtype))
)

trainer.train()
in_training = set(seen)
seen.clear()

printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:enable]
    # In the TrainingArguments: bf16_full_eval
    in_fp32 = {name: w.cpu().clone() for name, w in model.state_dict().items()}
    trainer.evaluate()
    print(model.dtype)  # torch.bfloat16, and it stays so
    model.float().load_state_dict(in_fp32)  # before you train on, or save
    # --8<-- [end:enable]
print(printed.getvalue(), end="")

assert printed.getvalue().splitlines()[-1] == "torch.bfloat16", printed.getvalue()
print(f"in train(): {in_training}, in evaluate(): {seen}")
single, half = torch.float32, torch.bfloat16
assert in_training == {(True, single), (False, single)}, in_training
assert seen == {(False, half)}, f"evaluate() saw {seen}"
weight = model.lm_head.weight
for name, restored in model.state_dict().items():
    assert restored.dtype == single, f"{name} is {restored.dtype}"
    assert restored.cpu().equal(in_fp32[name]), f"{name} is not restored"
trainer.evaluate()
held = sum(w.nbytes for w in model.parameters())
count = sum(w.numel() for w in model.parameters())
assert held == 2 * count, f"{held / count} bytes per parameter after evaluate()"
# The optimizer still has the fp32 states of the first train(), which bf16 weights do not fit.
try:
    trainer.train()
except RuntimeError as error:
    print("train() again:", error)
else:
    raise AssertionError("train() after train() and evaluate() works")
trainer.optimizer = trainer.lr_scheduler = None  # as if it had not trained before
trainer.train()
states = {
    state["exp_avg"].dtype for state in trainer.optimizer.optimizer.state.values()
}
assert states == {half}, f"a first train() after evaluate() has states in {states}"
assert not model.lm_head.weight.float().equal(
    in_fp32["lm_head.weight"].to(weight.device)
)
