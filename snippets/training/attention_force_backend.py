# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2", "HuggingFaceTB/SmolLM2-135M"]
# ablation = { "with sdpa_kernel(SDPBackend.FLASH_ATTENTION)" = "with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH])" }
# ///
"""Where only one SDPA backend is allowed, a case that it does not support raises an error with its reason. No slow path runs."""

import contextlib
import io
import warnings

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"


def model_and_batch(checkpoint: str, dtype: torch.dtype):
    """A model in training, and a batch without padding."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    batch = tokenizer(["Fail loudly, or not at all."] * 2, return_tensors="pt")
    batch["labels"] = batch["input_ids"].clone()
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=dtype)
    return model.to(device).train(), batch.to(device)


# GPT-2 has dropout on its attention, which no SDPA kernel of a CPU supports.
# Its weights are fp32, which the flash kernel of a GPU does not support.
model, batch = model_and_batch("openai-community/gpt2", torch.float32)

printed = io.StringIO()
with contextlib.redirect_stdout(printed):  # noqa: SIM117
    # --8<-- [start:enable]
    with warnings.catch_warnings(record=True) as reasons:
        warnings.simplefilter("always")
        try:
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                model(**batch)
            print("the flash kernel ran")
        except RuntimeError as error:
            print(error, *(f"\n- {reason.message}" for reason in reasons))
    # --8<-- [end:enable]
print(printed.getvalue(), end="")

told = " ".join(str(reason.message) for reason in reasons)
wanted = "dropout" if device == "cpu" else "dtype"
assert "Flash attention kernel not used because" in told, (
    "the flash kernel was asked for, another one ran, and nothing was said"
)
assert wanted in told, told
for reason in reasons:
    assert f"- {reason.message}" in printed.getvalue(), "a reason is not printed"

# The proof that the same call lets through what the kernel supports.
model, batch = model_and_batch("HuggingFaceTB/SmolLM2-135M", torch.bfloat16)
with profile() as trace, sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    model(**batch).loss.backward()
names = {row.key for row in trace.key_averages()}
kernels = {name for name in names if "::_scaled_dot_product" in name}
assert kernels, "no kernel of scaled_dot_product_attention was called"
assert all("flash_attention" in name for name in kernels), kernels
