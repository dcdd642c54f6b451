# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "trl>=1.16,<2", "tokenizers>=0.22"]
#
# [tool.headroom]
# timeout = 120
# ablation = { 'processing_class=tokenizer' = 'processing_class=None' }
# ///
"""Code for older libraries fails on a name: each text says which one, and the name of today works."""

import importlib
import tempfile

import torch
from accelerate import Accelerator
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer

folder = tempfile.mkdtemp()
config = LlamaConfig(
    vocab_size=8, hidden_size=32, intermediate_size=16, num_hidden_layers=1
)
model = LlamaForCausalLM(config)
model.save_pretrained(folder)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"a": 0})))


def message(call, *arguments, **options):
    """Return the text of the error that a call raises."""
    try:
        call(*arguments, **options)
    except (TypeError, AttributeError, ImportError, ValueError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def imported(name, module="transformers"):
    """Import a name of a module as `from module import name` does."""
    exec(f"from {module} import {name}", {})  # noqa: S102


unexpected = "got an unexpected keyword argument"
texts = []
for call, name in [
    (
        lambda **old: AutoModelForCausalLM.from_pretrained(folder, **old),
        "load_in_8bit",
    ),
    (
        lambda **old: AutoModelForCausalLM.from_pretrained(folder, **old),
        "load_in_4bit",
    ),
    (
        lambda **old: AutoModelForCausalLM.from_pretrained(folder, **old),
        "use_flash_attention_2",
    ),
    (TrainingArguments, "evaluation_strategy"),
    (TrainingArguments, "no_cuda"),
    (TrainingArguments, "warmup_ratio"),
    (TrainingArguments, "overwrite_output_dir"),
    (Trainer, "tokenizer"),
    (Accelerator, "fp16"),
    (SFTTrainer, "max_seq_length"),
    (SFTConfig, "max_seq_length"),
]:
    texts.append(message(call, **{name: True}))
    assert f"{unexpected} '{name}'" in texts[-1], texts[-1]
for name in ("to_bettertransformer", "reverse_bettertransformer"):
    texts.append(message(getattr, model, name))
    assert f"has no attribute '{name}'" in texts[-1], texts[-1]
for name in ("AdamW", "TFAutoModelForCausalLM", "PyTorchBenchmark", "SinkCache"):
    texts.append(message(imported, name))
    assert f"cannot import name '{name}' from 'transformers'" in texts[-1], texts[
        -1
    ]
texts.append(
    message(imported, "load_sharded_checkpoint", "transformers.modeling_utils")
)
assert "cannot import name 'load_sharded_checkpoint'" in texts[-1], texts[-1]
texts.append(message(importlib.import_module, "transformers.deepspeed"))
assert texts[-1].endswith("No module named 'transformers.deepspeed'"), texts[-1]
print("\n".join(texts))

# --8<-- [start:cure]
arguments = TrainingArguments(
    output_dir=folder,
    use_cpu=True,  # no_cuda
    eval_strategy="no",  # evaluation_strategy
    warmup_steps=0.1,  # warmup_ratio: below 1, it is a share of the steps
    report_to="none",
)
trainer = Trainer(model, arguments, processing_class=tokenizer)  # tokenizer
accelerator = Accelerator(cpu=True, mixed_precision="no")  # fp16
# --8<-- [end:cure]
assert trainer.processing_class is tokenizer, "the tokenizer is not saved"
assert arguments.get_warmup_steps(200) == 20
assert arguments.use_cpu, "a GPU would be used"
assert trainer.args.device == accelerator.device == torch.device("cpu")
