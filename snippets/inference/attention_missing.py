# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "attn_implementation=kernel\n)" = "attn_implementation='eager'\n)" }
# ///
"""flash_attention_2 without its package is an error while the model loads, not a silent fallback. SDPA needs no package."""

from importlib.util import find_spec

from transformers import AutoModelForCausalLM

asked = []


def installed(package: str) -> bool:
    asked.append(package)
    return find_spec(package) is not None


# --8<-- [start:enable]
kernel = "flash_attention_2" if installed("flash_attn") else "sdpa"
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", attn_implementation=kernel
)
# --8<-- [end:enable]
assert asked == ["flash_attn"], f"the package is not {asked}"
chosen = model.config._attn_implementation  # noqa: SLF001
print(chosen)
wanted = "flash_attention_2" if installed("flash_attn") else "sdpa"
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
if not installed("flash_attn"):
    error = loading_error("flash_attention_2")
    print(error)
    assert "FlashAttention2 has been toggled on" in error, error
