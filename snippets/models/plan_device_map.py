# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# ablation = { 'auto = infer_auto_device_map(model, limits, ' = 'auto = infer_auto_device_map(model, memory, ' }
# ///
"""Plan a device map for two GPUs without a GPU and without weights: "auto" balances the layers, and only "sequential" fills the first GPU."""

import torch
from accelerate import infer_auto_device_map
from accelerate.utils import get_balanced_memory
from transformers import LlamaConfig, LlamaForCausalLM

# --8<-- [start:plan]
config = LlamaConfig(  # Llama 3.1 8B
    hidden_size=4096,
    intermediate_size=14336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    vocab_size=128256,
)
with torch.device("meta"):
    model = LlamaForCausalLM(config).to(torch.bfloat16)
model.tie_weights()
memory = {0: "22GiB", 1: "22GiB", "cpu": "60GiB"}
whole = {"no_split_module_classes": model._no_split_modules}  # noqa: SLF001
sequential = infer_auto_device_map(model, memory, **whole)
limits = get_balanced_memory(model, memory, **whole)
auto = infer_auto_device_map(model, limits, **whole)
# --8<-- [end:plan]


def held(device_map: dict) -> dict:
    """Return the GiB of weights per device."""
    found = dict.fromkeys(map(str, memory), 0.0)
    for name, parameter in model.named_parameters():
        place = next(
            d
            for part, d in device_map.items()
            if f"{name}.".startswith(f"{part}.") or part == ""
        )
        found[str(place)] += parameter.nbytes / 2**30
    return found


print(
    "GiB per device, sequential:",
    {k: round(v, 1) for k, v in held(sequential).items()},
)
print(
    "GiB per device, auto:      ", {k: round(v, 1) for k, v in held(auto).items()}
)

assert all(p.is_meta for p in model.parameters()), "a weight has memory"
assert held(sequential)["1"] == held(sequential)["cpu"] == 0, held(sequential)
assert abs(held(auto)["0"] - held(auto)["1"]) < 3.0, held(auto)
assert held(auto)["cpu"] == 0, held(auto)
assert abs(sum(held(auto).values()) - 2 * 8_030_261_248 / 2**30) < 0.01, held(auto)

# No part is smaller than a layer, such as model.layers.15.
for planned in (sequential, auto):
    assert all(name.count(".") <= 2 for name in planned), planned

# One small GPU: what does not fit goes to the CPU, and then to the disk.
small = infer_auto_device_map(model, {0: "6GiB", "cpu": "4GiB"}, **whole)
places = {str(place) for place in small.values()}
assert places == {"0", "cpu", "disk"}, small
