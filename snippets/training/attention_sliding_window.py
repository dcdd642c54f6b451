# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 180
# ablation = { "\"flex_attention\"" = "\"sdpa\"" }
# ///
"""From a full window on, SDPA gets a mask of tokens × tokens from a sliding-window model. FlexAttention builds none and gives the same result."""

import contextlib
import io

import torch
from torch.profiler import profile
from transformers import AutoConfig, AutoModelForCausalLM

device = "cuda" if torch.cuda.is_available() else "cpu"
window, tokens = 32, 128
config = AutoConfig.for_model(
    "mistral",
    vocab_size=64,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    sliding_window=window,
)
torch.manual_seed(0)
model = AutoModelForCausalLM.from_config(config).to(device).eval()
batch = {"input_ids": torch.randint(64, (1, tokens), device=device)}


def calls(length: int = tokens):
    """The shapes of the inputs of SDPA's kernels, one list per kind of call."""
    with torch.no_grad(), profile(record_shapes=True) as trace:
        model(batch["input_ids"][:, :length], use_cache=False)
    rows = trace.key_averages(group_by_input_shape=True)
    return [r.input_shapes for r in rows if "_scaled_dot_product" in r.key]


# One token short of the window there is no mask. With a full window there is one.
short, full = calls(window - 1), calls(window)
assert short, "SDPA does not run"
assert not any([1, 1, window - 1, window - 1] in shapes for shapes in short), short
assert any([1, 1, window, window] in shapes for shapes in full), full
with torch.no_grad():
    expected = model(**batch, use_cache=False).logits

# --8<-- [start:enable]
model.set_attn_implementation("flex_attention")
# --8<-- [end:enable]

with torch.no_grad():
    found = model(**batch, use_cache=False).logits

# The same check with SDPA, and with what was chosen above.
printed = {}
for name in ("sdpa", model.config._attn_implementation):  # noqa: SLF001
    model.set_attn_implementation(name)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        # --8<-- [start:is-it-on]
        with torch.no_grad(), profile(record_shapes=True) as trace:
            model(**batch, use_cache=False)
        for row in trace.key_averages(group_by_input_shape=True):
            if row.key.startswith("aten::_scaled_dot_product"):
                # no output when it is on
                print(row.count, row.key, row.input_shapes)
        # --8<-- [end:is-it-on]
    printed[name] = output.getvalue()
assert "aten::_scaled_dot_product" in printed["sdpa"], "the check finds no SDPA"
assert printed["sdpa"].startswith("2 aten::"), "the check counts no calls"
assert f"[1, 1, {tokens}, {tokens}]" in printed["sdpa"], "the check finds no mask"
assert model.config._attn_implementation.startswith("flex"), printed  # noqa: SLF001
assert printed[model.config._attn_implementation] == "", printed  # noqa: SLF001
assert not calls(), "SDPA still runs"
assert torch.allclose(found, expected, atol=1e-4), "the result is another one"
print(f"with {window - 1} tokens SDPA gets no mask, with {window} it gets one")
