# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'optimizer = torch.optim.AdamW(trainable, lr=1e-3)' = 'pass' }
# ///
"""An optimizer that was built before the adapters were added holds only frozen weights: it steps without an error, and nothing changes. Build it afterwards."""

import warnings

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
ids = tokenizer("Train on this.", return_tensors="pt")["input_ids"]

# --8<-- [start:provoke]
optimizer = torch.optim.AdamW(model.parameters())
model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM"))
# --8<-- [end:provoke]


def moved():
    """Take a step, and return how many weights it changed."""
    before = [p.detach().clone() for p in model.parameters()]
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    pairs = zip(before, model.parameters(), strict=True)
    return sum(not torch.equal(old, new) for old, new in pairs)


def missing():
    """Count the trainable weights that the optimizer does not have."""
    # --8<-- [start:check]
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    return sum(id(p) not in held for p in model.parameters() if p.requires_grad)
    # --8<-- [end:check]


print(f"{moved()} weights move, {missing()} are missing")
assert moved() == 0
adapters = [name for name, _ in model.named_parameters() if "lora_" in name]
assert missing() == len(adapters) > 0, f"{missing()} of {len(adapters)} missing"

# --8<-- [start:cure]
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable, lr=1e-3)
# --8<-- [end:cure]
assert missing() == 0, missing()
cured = optimizer
# The check reads every parameter group, such as those with and without weight decay.
first, second, *others = trainable
optimizer = torch.optim.AdamW([{"params": [first]}, {"params": [second, *others]}])
assert missing() == 0, missing()
optimizer = torch.optim.AdamW([{"params": [first]}, {"params": others}])
assert missing() == 1, missing()
optimizer = cured
changed = moved()
print(f"{changed} of {len(trainable)} trainable weights move")
assert changed == len(trainable), changed
