# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "attn_implementation=kernel\n)" = "attn_implementation='eager'\n)" }
# ///
"""flash_attention_2 without its package is an error while the model loads, not a silent fallback. SDPA needs no package."""

# --8<-- [start:enable]
from transformers import AutoModelForCausalLM
from transformers.utils import is_flash_attn_2_available

kernel = "flash_attention_2" if is_flash_attn_2_available() else "sdpa"
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", attn_implementation=kernel
)
# --8<-- [end:enable]
chosen = model.config._attn_implementation  # noqa: SLF001
print(chosen)
installed = is_flash_attn_2_available()
wanted = "flash_attention_2" if installed else "sdpa"
assert chosen == kernel == wanted, chosen


def loading_error(kernel: str) -> str:
    """Return the error of a kernel whose package is missing, or nothing."""
    try:
        AutoModelForCausalLM.from_pretrained(
            "HuggingFaceTB/SmolLM2-135M", attn_implementation=kernel
        )
    except ImportError as error:
        return str(error)
    return ""


assert loading_error("eager") == ""
if not installed:
    error = loading_error("flash_attention_2")
    print(error)
    assert "FlashAttention2 has been toggled on" in error, error
