# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "    attn_pdrop=0.0,  # GPT-2's config says 0.1" = "" }
# ///
"""On a CPU, dropout on the attention sends SDPA to its math path. Without it, the fused kernel also runs in training."""

from unittest.mock import patch

from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["A kernel that drops out."] * 4, return_tensors="pt")
batch["labels"] = batch["input_ids"].clone()

# --8<-- [start:enable]
model = AutoModelForCausalLM.from_pretrained(
    checkpoint,
    attn_pdrop=0.0,  # GPT-2's config says 0.1
)
model.train()
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile() as trace:
    model(**batch).loss.backward()
names = {row.key for row in trace.key_averages()}
print([name for name in names if "::_scaled_dot_product" in name])
# --8<-- [end:is-it-on]

assert "aten::_scaled_dot_product_attention_math" not in names, (
    "SDPA took its math path"
)
for kernel in ("for_cpu", "for_cpu_backward"):
    assert f"aten::_scaled_dot_product_flash_attention_{kernel}" in names, (
        f"no flash_attention_{kernel} was called"
    )
shown = printed.call_args.args[0]
kernel = "aten::_scaled_dot_product_flash_attention_for_cpu"
assert sorted(shown) == [kernel, f"{kernel}_backward"], f"printed was {shown}"
weights = model.transformer.h[0].attn.c_attn.weight.grad
assert weights is not None, "no gradient came through the attention"
assert weights.abs().sum() > 0, "the attention's gradient is zero"
assert model.training, "the model is not in training"

# With GPT-2's own dropout, SDPA takes the math path.
usual = AutoModelForCausalLM.from_pretrained(checkpoint).train()
assert usual.config.attn_pdrop == 0.1, "GPT-2's config has another dropout"
with profile() as trace:
    usual(**batch).loss.backward()
names = {row.key for row in trace.key_averages()}
assert "aten::_scaled_dot_product_attention_math" in names, "no math path"
