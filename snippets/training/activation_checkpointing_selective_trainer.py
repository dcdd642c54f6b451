# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# datasets = ["Salesforce/wikitext"]
# ablation = { "torch.ops.aten.mm.default" = "torch.ops.aten.bmm.default" }
# ///
"""The Trainer trains with the selective checkpointing that was enabled on the model: matmuls run once, activation functions twice."""

from functools import partial

import torch
from datasets import load_dataset
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import create_selective_checkpoint_contexts
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=256),
    remove_columns=["text"],
)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# --8<-- [start:enable]
keep = [torch.ops.aten.mm.default]  # a list is enough where names are fixed
contexts = partial(create_selective_checkpoint_contexts, keep)
model.activation_checkpointing_enable(
    {"use_reentrant": False, "context_fn": contexts}
)
trainer = Trainer(
    model,
    TrainingArguments(  # activation_checkpointing stays off
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=1,
        save_strategy="no",
        report_to="none",
    ),
    train_dataset=tokens,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
# --8<-- [end:enable]


class Products(TorchDispatchMode):
    """Counts the matmuls, activation functions and attentions that really run."""

    matmuls = silus = attentions = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.matmuls += operation.name() == "aten::mm"
        self.silus += operation.name() == "aten::silu"
        if operation.name().startswith("aten::_scaled_dot_product"):
            self.attentions += "backward" not in operation.name()
        return operation(*args, **(kwargs or {}))


# The proof: one matmul forward and two backward for each weight matrix, and every activation function and attention twice.
with Products() as counted:
    trainer.train()
matrices = sum(isinstance(m, torch.nn.Linear) for m in model.modules())
print(f"{counted.matmuls} matmuls of {matrices} matrices, {counted.silus} silu")
assert counted.silus == 2 * model.config.num_hidden_layers, "nothing ran again"
assert counted.attentions == counted.silus, f"{counted.attentions} attentions ran"
assert counted.matmuls == 3 * matrices, f"{counted.matmuls} matmuls ran"
assert trainer.state.global_step == 1
assert not trainer.args.activation_checkpointing, "the Trainer's own was on"
