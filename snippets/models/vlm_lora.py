# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["Qwen/Qwen2.5-VL-7B-Instruct"]
# ablation = { ', exclude_modules=r".*visual.*"' = "" }
# ///
"""With target_modules="all-linear", LoRA also adapts the vision tower, whose layers then save activations. exclude_modules leaves the tower out."""

import warnings
from unittest.mock import patch

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForImageTextToText

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

checkpoint = "Qwen/Qwen2.5-VL-7B-Instruct"

# --8<-- [start:enable]
model = AutoModelForImageTextToText.from_pretrained(checkpoint)
adapter = LoraConfig(target_modules="all-linear", exclude_modules=r".*visual.*")
model = get_peft_model(model, adapter)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()


def check(model):
    # --8<-- [start:is-it-on]
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    in_tower = sum(".visual." in name for name in trained)
    print(f"{in_tower} of {len(trained)} trained tensors are in the vision tower")
    # --8<-- [end:is-it-on]
    return trained, in_tower


trained, in_tower = check(model)
shown = printed.call_args.args[0]

# The proof: every linear layer of the language model has an adapter, and its image features have no graph.
layers = [
    name
    for name, module in model.named_modules()
    if ".language_model.layers." in name and name.endswith("_proj")
]
assert len(layers) == 7 * model.config.text_config.num_hidden_layers
adapted = {name.rpartition(".lora_")[0] for name in trained}
assert adapted >= set(layers), "a layer of the language model has no adapter"
patches = torch.zeros(4 * 4 * 4, 3 * 2 * 14 * 14, dtype=model.dtype)
features = model.model.model.visual(patches, grid_thw=torch.tensor([[1, 8, 8]]))
assert in_tower == 0, f"{in_tower} adapters in the tower"
end = f" of {2 * len(adapted)} trained tensors are in the vision tower"
assert shown == f"0{end}", f"printed was {shown}"
with patch("builtins.print") as printed:  # without exclude_modules
    everywhere = AutoModelForImageTextToText.from_pretrained(checkpoint)
    adapter = LoraConfig(target_modules="all-linear")
    more, _ = check(get_peft_model(everywhere, adapter))
end = f" of {len(more)} trained tensors are in the vision tower"
assert printed.call_args.args[0] == f"{len(more) - len(trained)}{end}"
assert len(more) > len(trained)
assert not features.pooler_output.requires_grad, "the tower saves activations"
