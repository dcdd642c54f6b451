# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { 'name.replace("_orig_mod.", "")' = 'name' }
# ///
"""torch.compile and DistributedDataParallel wrap a model, and their state dicts have a prefix that the plain model does not know. Remove it."""

import torch
from transformers import AutoModelForCausalLM

checkpoint = "openai-community/gpt2"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
compiled = torch.compile(model).state_dict()
parallel = torch.nn.DataParallel(model).state_dict()  # as DistributedDataParallel


def error_of(state):
    """Load a state dict into a new model, and return the error or nothing."""
    plain = AutoModelForCausalLM.from_config(model.config, dtype=torch.float32)
    try:
        plain.load_state_dict(state)
    except RuntimeError as error:
        return " ".join(str(error).split())
    pairs = zip(plain.parameters(), model.parameters(), strict=True)
    assert all(torch.equal(new, old) for new, old in pairs)
    return ""


for prefix, state in (("_orig_mod.", compiled), ("module.", parallel)):
    message = error_of(state)
    print(message[:100])
    assert all(name.startswith(prefix) for name in state)
    start = "Error(s) in loading state_dict for GPT2LMHeadModel: Missing key(s) in"
    assert message.startswith(start), message[:100]
    assert f'Unexpected key(s) in state_dict: "{prefix}' in message


# --8<-- [start:cure]
def plain(name):
    name = name.replace("_orig_mod.", "")  # also of a layer compiled alone
    return name.removeprefix("module.")


def without_prefix(state):
    return {plain(name): tensor for name, tensor in state.items()}


# --8<-- [end:cure]
# Both wrappers, in either order, give both prefixes.
inner = torch.compile(torch.nn.DataParallel(model)).state_dict()
outer = torch.nn.DataParallel(torch.compile(model)).state_dict()
assert all(name.startswith("_orig_mod.module.") for name in inner)
assert all(name.startswith("module._orig_mod.") for name in outer)
# A layer that was compiled alone has the prefix inside its names.
model.transformer.h[0] = torch.compile(model.transformer.h[0])
layer = model.state_dict()
assert any(name.startswith("transformer.h.0._orig_mod.") for name in layer)
for state in (compiled, parallel, inner, outer, layer):
    error = error_of(without_prefix(state))
    assert error == "", error[:100]
