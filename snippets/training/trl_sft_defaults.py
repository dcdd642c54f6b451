# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "arguments = SFTConfig(" = "arguments = TrainingArguments(" }
# ///
"""SFTConfig turns on gradient checkpointing and bf16 autocast, and cuts texts at 1,024 tokens. SFTTrainer loads a model by name in fp32, and training never computes whole logits."""

import warnings
from dataclasses import fields
from unittest.mock import patch

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, TrainingArguments
from trl import SFTConfig, SFTTrainer

# TRL 1.16 passes transformers an argument by its old name.
warnings.filterwarnings("ignore", message="`gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())

cpu = not torch.cuda.is_available()

# --8<-- [start:enable]
arguments = SFTConfig(
    output_dir="out", max_steps=1, save_strategy="no", report_to="none", use_cpu=cpu
)
trainer = SFTTrainer(checkpoint, arguments, train_dataset=texts)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
plain = {field.name: field.default for field in fields(TrainingArguments)}
for name in ("gradient_checkpointing", "bf16", "learning_rate", "logging_steps"):
    print(f"{name}: {getattr(arguments, name)}, Trainer: {plain[name]}")
print(f"weights: {next(trainer.model.parameters()).dtype}")
print(f"longest text: {getattr(arguments, 'max_length', None)} tokens")
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

logits = []
trainer.model.lm_head.register_forward_hook(
    lambda *args: logits.append(args[-1].shape)
)
trainer.train()

# The proof: these defaults differ from the Trainer's.
assert arguments.gradient_checkpointing, "gradient checkpointing is off"
assert not plain["gradient_checkpointing"]
assert arguments.bf16, "bf16 autocast is off"
assert not plain["bf16"]
assert (arguments.learning_rate, plain["learning_rate"]) == (2e-5, 5e-5)
assert (arguments.logging_steps, plain["logging_steps"]) == (10, 500)
assert arguments.max_length == 1024
assert (arguments.packing, arguments.padding_free) == (False, False)
assert arguments.packing_strategy == "bfd"
assert not arguments.assistant_only_loss
assert arguments.loss_type == "nll"
off = TrainingArguments.gradient_checkpointing  # None or False
assert shown == [
    f"gradient_checkpointing: True, Trainer: {off}",
    "bf16: True, Trainer: False",
    "learning_rate: 2e-05, Trainer: 5e-05",
    "logging_steps: 10, Trainer: 500",
    "weights: torch.float32",
    "longest text: 1024 tokens",
], f"printed was {shown}"

# By name, the model is loaded in fp32, although its checkpoint is bf16.
stored = AutoModelForCausalLM.from_pretrained(checkpoint)
assert next(stored.parameters()).dtype == torch.bfloat16
assert next(trainer.model.parameters()).dtype == torch.float32
# The LM head's own forward, which makes whole logits, did not run in training.
assert trainer.state.global_step == 1
assert not logits, f"whole logits of {logits[0]}"
with torch.no_grad():
    trainer.model(torch.tensor([[1, 2, 3]], device=trainer.model.device))
assert logits, "the hook does not see calls"
