# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 300
# ablation = { "@find_executable_batch_size(starting_batch_size=16)\n    def train(batch_size: int)" = "def train(batch_size: int = 16)" }
# ///
"""find_executable_batch_size calls a function again with a smaller batch until it fits. The function makes a new model for each try."""

from contextlib import suppress

import torch
from accelerate.utils import find_executable_batch_size
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
texts = ["Try it, and take less if it does not fit."] * 64
tried = []
made = []


def small_card(_module, _args, batch) -> None:
    """More than twelve texts are too many for it."""
    tried.append(len(batch["input_ids"]))
    if tried[-1] > 12:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")


def on_a_small_card(*args, **kwargs) -> torch.nn.Module:
    """A model for the demonstration: too many texts are an out-of-memory error."""
    model = from_pretrained(*args, **kwargs)
    made.append(model)
    model.register_forward_pre_hook(small_card, with_kwargs=True)
    return model


from_pretrained = AutoModelForCausalLM.from_pretrained
AutoModelForCausalLM.from_pretrained = on_a_small_card

with suppress(torch.OutOfMemoryError):
    # --8<-- [start:enable]
    @find_executable_batch_size(starting_batch_size=16)
    def train(batch_size: int) -> torch.nn.Module:
        """Make all anew here, or the next try goes on with what this trained."""
        model = AutoModelForCausalLM.from_pretrained(
            checkpoint, dtype=torch.float32
        )
        model = model.to(device).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
        for start in range(0, 4 * batch_size, batch_size):
            rows = texts[start : start + batch_size]
            batch = tokenizer(rows, return_tensors="pt").to(device)
            model(**batch, labels=batch["input_ids"]).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return model

    model = train()
    # --8<-- [end:enable]

print(f"batches: {tried}")
assert tried == [16, 14, 12, 12, 12, 12], f"it tried batches of {tried}"
assert len(made) == 3, f"{len(made)} models were made in 3 tries"
assert model is made[-1]
pairs = list(zip(made[0].parameters(), model.parameters(), strict=True))
assert not any(old.equal(new) for old, new in pairs), "nothing was trained"
fresh = from_pretrained(checkpoint, dtype=torch.float32).to(device)
pairs = zip(fresh.parameters(), made[1].parameters(), strict=True)
assert all(old.equal(new) for old, new in pairs), "a try began with trained weights"
