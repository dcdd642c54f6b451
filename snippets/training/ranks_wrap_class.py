# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "auto_wrap_policy=\"transformer_based_wrap\")" = "auto_wrap_policy=\"transformer_based_wrap\", transformer_cls_names_to_wrap=[\"LlamaDecoderLayer\"])" }
# ///
"""FSDP looks for layer classes by name. Another model's class raises; without a name, the model's own list is taken."""

from unittest.mock import patch

from accelerate import FullyShardedDataParallelPlugin
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("openai-community/gpt2")

# --8<-- [start:enable]
plugin = FullyShardedDataParallelPlugin(auto_wrap_policy="transformer_based_wrap")
# --8<-- [end:enable]


def error_of(plugin):
    """Resolve the names as `accelerator.prepare` does, and return the error."""
    try:
        plugin.set_auto_wrap_policy(model)
    except ValueError as raised:
        return str(raised)
    return ""


named = plugin.transformer_cls_names_to_wrap
found = error_of(plugin)
assert found == "", f"without a name: {found}"
assert named is None, f"the setting names {named}"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
wrapped = plugin.auto_wrap_policy.keywords["transformer_layer_cls"]
print([each.__name__ for each in wrapped])  # such as GPT2Block
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]

# The proof: without a name, the model's layers are wrapped. With the class of another model, the error appears.
assert {each.__name__ for each in wrapped} == {"GPT2Block"}, wrapped
assert shown == ["GPT2Block"], f"printed was {shown}"
layers = [each for each in model.modules() if isinstance(each, tuple(wrapped))]
assert len(layers) == model.config.num_hidden_layers, (
    f"{len(layers)} wrapped layers"
)
stale = FullyShardedDataParallelPlugin(
    auto_wrap_policy="transformer_based_wrap",
    transformer_cls_names_to_wrap=["LlamaDecoderLayer"],
)
found = error_of(stale)
print(found)
expected = (
    "Could not find the transformer layer class LlamaDecoderLayer in the model."
)
assert found == expected, found
