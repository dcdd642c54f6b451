# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'device_map = {"": "cpu"}' = 'device_map = {**mixed}' }
# ///
"""bitsandbytes refuses a device map with parts on the CPU or the disk next to a GPU. The error's text, and a map that loads."""

from unittest.mock import patch

from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from transformers.quantizers.quantizer_bnb_4bit import Bnb4BitHfQuantizer

quantization = BitsAndBytesConfig(load_in_4bit=True)


def refused(device_map: dict) -> str:
    """Return the error for a device map, without loading a model."""
    quantizer = Bnb4BitHfQuantizer(quantization, pre_quantized=False)
    try:
        quantizer.validate_environment(device_map=device_map)
    except ValueError as error:
        return " ".join(str(error).split())
    return ""


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:provoke]
mixed = {"model.layers.0": 0, "model.layers.1": "cpu"}
print(refused(mixed))
# --8<-- [end:provoke]
shown = printed.call_args.args[0]
assert refused(mixed).startswith(
    "Some modules are dispatched on the CPU or the disk."
)
assert set(mixed.values()) == {0, "cpu"}, mixed
assert shown == refused({"a": 0, "b": "disk"}), f"printed was {shown}"

# --8<-- [start:cure]
device_map = {"": "cpu"}  # one place for all parts: 0 on a machine with a GPU
# --8<-- [end:cure]
assert refused(device_map) == "", refused(device_map)
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M",
    quantization_config=quantization,
    device_map=device_map,
)
assert model.device.type == "cpu"
assert model.is_loaded_in_4bit
