# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "dtype=torch.bfloat16):" = "dtype=torch.bfloat16, cache_enabled=False):" }
# ///
"""Inside one autocast block every weight is cast once, however often it is used, and an update in between is not seen."""

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

cast = [times for times in casts.of.values() if times]
assert len(cast) > 16, f"only {len(cast)} weights were cast at all"
assert set(cast) == {1}, (
    f"weights were cast {sorted(set(cast))} times, in two passes"
)

# The price: inside the block, the copies are old as soon as the weights are new.
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with torch.autocast(device, torch.bfloat16):
    first = model(**chosen, labels=chosen["input_ids"]).loss
    first.backward()
    kept = model.transformer.h[0].attn.c_attn.weight.detach().clone()
    optimizer.step()
    hidden = torch.randn(1, 4, model.config.n_embd, device=device)
    stale = model.transformer.h[0].attn.c_attn(hidden)
with torch.autocast(device, torch.bfloat16):
    fresh = model.transformer.h[0].attn.c_attn(hidden)
assert not kept.equal(model.transformer.h[0].attn.c_attn.weight), "no update"
assert not stale.equal(fresh), "the copy of a weight was renewed inside the block"
