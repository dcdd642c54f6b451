# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "schedulefree>=1.4",
# ]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 240
# ablation = { "optim=\"schedule_free_adamw\"" = "optim=\"adamw_torch\"" }
# ///
"""Schedule-Free trains one set of weights and evaluates another, their average. Call optimizer.eval() before you save."""

from pathlib import Path
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

checkpoint = "openai-community/gpt2"
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

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    optim="schedule_free_adamw",
    lr_scheduler_type="constant",  # else the Trainer decays the rate all the same
    learning_rate=1e-3,
    max_steps=4,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
trainer.optimizer.eval()  # from the weights that were trained to their average
trainer.save_model()
# --8<-- [end:enable]

weight = model.transformer.h[0].mlp.c_fc.weight
averaged = weight.detach().clone()
trainer.optimizer.train()  # back to the weights that are trained
trained = weight.detach().clone()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
trainer.evaluate(tokens.select(range(8)))
print(weight.equal(trained))  # on: False, evaluation has switched to the average
# --8<-- [end:is-it-on]
shown = printed.call_args.args

state = trainer.optimizer.state[weight]
assert "z" in state, "no second set of weights is kept"
assert not weight.equal(trained), "evaluation took the weights that are trained"
assert torch.allclose(weight, averaged, rtol=0, atol=1e-6)
assert shown == (False,), f"printed was {shown}"
# What is trained lies between the average and z, a tenth of the way (1 - beta1).
between = averaged + 0.1 * (state["z"] - averaged)
assert torch.allclose(trained, between, rtol=0, atol=1e-6), (
    "not where theory puts it"
)
assert Path("out/config.json").exists(), "no model was saved"
saved = AutoModelForCausalLM.from_pretrained("out", dtype=torch.float32)
saved = saved.transformer.h[0].mlp.c_fc.weight.to(weight.device)
assert torch.allclose(saved, averaged, rtol=0, atol=1e-6), (
    "the average was not saved"
)
rates = {group["lr"] for group in trainer.optimizer.param_groups}
assert rates == {1e-3}, f"a schedule changed the rate to {rates}"

# Without the switch, the weights that are trained are saved.
trainer.optimizer.train()
trainer.save_model("unswitched")
saved = AutoModelForCausalLM.from_pretrained("unswitched", dtype=torch.float32)
saved = saved.transformer.h[0].mlp.c_fc.weight.to(weight.device)
assert torch.allclose(saved, trained, rtol=0, atol=1e-6)
assert not torch.allclose(trained, averaged, rtol=0, atol=1e-5), "they are the same"
