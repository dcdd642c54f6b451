# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "attn_implementation=\"sdpa\"" = "attn_implementation=\"eager\"" }
# ///
"""With SDPA, a fused kernel computes the attention, and no tensor of tokens × tokens is saved for the backward pass."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "Which kernel computes the attention? " * 20
batch = tokenizer([text] * 4, return_tensors="pt").to(device)

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    dtype=torch.float32,
    attn_implementation="sdpa",  # the default, where a model supports it
)
model = model.to(device).train()
# --8<-- [end:enable]


def loss_of(model: torch.nn.Module) -> torch.Tensor:
    """Forward and backward in fp32, so that two kernels can be compared."""
    loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    return loss.detach()


types = []  # of the forward pass: whether autocast is on, and to which type
model.register_forward_pre_hook(
    lambda *_: types.append(
        (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
    )
)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace, torch.autocast(device, dtype=torch.bfloat16):
    model(**batch, labels=batch["input_ids"])
names = {row.key for row in trace.key_averages()}
print([name for name in names if "::_scaled_dot_product" in name])
# --8<-- [end:is-it-on]

assert types == [(True, torch.bfloat16)], types
kernels = {name for name in names if "::_scaled_dot_product" in name}
assert kernels, "no kernel of scaled_dot_product_attention was called"
assert not any(name.endswith("_math") for name in kernels), kernels
shown = printed.call_args.args[0]
assert set(shown) == kernels, f"printed was {shown}"

# The proof: no kept tensor has a side of tokens twice, and the result is eager's.
tokens = batch["input_ids"].shape[1]
kept: list[torch.Size] = []


def note(tensor: torch.Tensor) -> torch.Tensor:
    kept.append(tensor.shape)
    return tensor


def squares(model: torch.nn.Module) -> tuple[torch.Tensor, int]:
    """The loss, and how many of the saved tensors have a side of tokens twice."""
    kept.clear()
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = loss_of(model)
    return loss, sum(list(shape[-2:]) == [tokens, tokens] for shape in kept)


loss, square = squares(model)
assert kept, "nothing was saved for backward"
assert square == 0, f"{square} tensors of tokens × tokens were kept"

reference = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
assert reference.config._attn_implementation == "sdpa", "not the default"  # noqa: SLF001
reference.set_attn_implementation("eager")
reference = reference.to(device).train()
expected, square = squares(reference)
assert square >= reference.config.num_hidden_layers, (
    "eager attention kept no square"
)
assert torch.allclose(loss, expected, rtol=1e-4, atol=1e-5), (
    f"the loss is {loss}, not {expected}"
)
for one, other in zip(model.parameters(), reference.parameters(), strict=True):
    assert torch.allclose(one.grad, other.grad, rtol=1e-2, atol=1e-4), (
        "a gradient is another one"
    )
