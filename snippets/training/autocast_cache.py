# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "dtype=torch.bfloat16):" = "dtype=torch.bfloat16, cache_enabled=False):" }
# ///
"""Inside one autocast block, each trained weight of a matmul is cast once for all its uses, and an update of the weight is not seen."""

import io
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
texts = ["The answer that was chosen.", "The answer that was not."]
chosen, rejected = (tokenizer(t, return_tensors="pt").to(device) for t in texts)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).eval()  # no dropout, so that two losses can be compared


shell, sys.stdout = sys.stdout, io.StringIO()  # for the proof


# --8<-- [start:is-it-on]
class Casts(TorchDispatchMode):
    """Counts how often each weight is cast to bf16."""

    def __init__(self) -> None:
        super().__init__()
        self.of = {w.data_ptr(): 0 for w in model.parameters()}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        to_bf16 = (kwargs or {}).get("dtype") == torch.bfloat16
        if to_bf16 and args[0].data_ptr() in self.of:
            self.of[args[0].data_ptr()] += 1
        return func(*args, **(kwargs or {}))


with Casts() as casts, torch.autocast(device, dtype=torch.bfloat16):
    losses = [model(**b, labels=b["input_ids"]).loss for b in (chosen, rejected)]
print(max(casts.of.values()), "cast of a weight")  # on: 1, off: 2
# --8<-- [end:is-it-on]
printed, sys.stdout = sys.stdout.getvalue(), shell
print(printed, end="")

cast = [times for times in casts.of.values() if times]
assert printed == "1 cast of a weight\n", printed
assert len(losses) == 2, f"{len(losses)} passes were made"
used = 8 * model.config.n_layer + 1  # four layers with biases a block, and the head
assert len(cast) == used, f"{len(cast)} weights were cast instead of {used}"
assert set(cast) == {1}, (
    f"weights were cast {sorted(set(cast))} times, in two passes"
)

# The next block casts again, and frozen weights are cast at every use.
for trained in (False, True):
    model.requires_grad_(trained)
    with Casts() as casts:
        for passed in ((chosen,), (rejected, chosen)):
            with torch.autocast(device, torch.bfloat16):
                for tokens in passed:
                    model(**tokens)
    times = set(casts.of.values()) - {0}
    assert times == {2 if trained else 3}, f"trained: {trained}, casts: {times}"

# The price: inside the block, the copies are old as soon as the weights are new.
hidden = torch.randn(1, 4, model.config.n_embd, device=device)
layer = model.transformer.h[0].attn.c_attn
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with torch.autocast(device, torch.bfloat16):
    first = model(**chosen, labels=chosen["input_ids"]).loss
    first.backward()
    early, kept = layer(hidden), layer.weight.detach().clone()
    optimizer.step()
    stale, updated = layer(hidden), layer.weight.detach().clone()
with torch.autocast(device, torch.bfloat16):
    fresh = layer(hidden)
assert not kept.equal(updated), "no update inside the block"
assert stale.equal(early), "the copy of a weight was renewed inside the block"
assert not stale.equal(fresh), "the copy of a weight outlived its block"
