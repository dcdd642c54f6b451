# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "safetensors>=0.6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'save_model(model, path)' = 'save_file(model.state_dict(), path)' }
# ///
"""safetensors refuses a state dict in which two names share one tensor, as tied embeddings do. save_model writes the tensor once."""

import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_model, save_file, save_model
from transformers import AutoModelForCausalLM

checkpoint = "openai-community/gpt2"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "model.safetensors")
assert model.lm_head.weight is model.transformer.wte.weight  # tied

try:
    save_file(dict(model.state_dict()), path)
except RuntimeError as error:
    message = " ".join(str(error).split())
    print(message)
assert message.startswith("Some tensors share memory, this will lead to duplicate")
assert not path.exists()


def save():
    """Return the error of saving, or nothing."""
    try:
        # --8<-- [start:cure]
        save_model(model, path)
        # --8<-- [end:cure]
    except RuntimeError as error:
        return str(error)
    return ""


error = save()
assert error == "", error
weights = sum(parameter.nbytes for parameter in model.parameters())
assert weights <= path.stat().st_size < weights + 2**16, path.stat().st_size

other = AutoModelForCausalLM.from_config(model.config, dtype=torch.float32)
load_model(other, path)
assert other.lm_head.weight is other.transformer.wte.weight
pairs = zip(model.parameters(), other.parameters(), strict=True)
assert all(torch.equal(old, new) for old, new in pairs)

model.save_pretrained(folder.name)  # the same, with the configuration
other = AutoModelForCausalLM.from_pretrained(folder.name)
assert other.lm_head.weight is other.transformer.wte.weight
