# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen2.5-VL-7B-Instruct"]
# ablation = { "model.model.visual.requires_grad_(requires_grad=False)" = "model.model.visual.requires_grad_(requires_grad=True)" }
# ///
"""A frozen vision tower has no gradients and no optimizer states, and saves no activations. The language model trains as before, on the same image features."""

from unittest.mock import patch

import torch
from torch.autograd.graph import saved_tensors_hooks
from transformers import AutoModelForImageTextToText

checkpoint = "Qwen/Qwen2.5-VL-7B-Instruct"

# --8<-- [start:enable]
model = AutoModelForImageTextToText.from_pretrained(checkpoint, dtype=torch.float32)
model.model.visual.requires_grad_(requires_grad=False)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-5)
# --8<-- [end:enable]

torch.manual_seed(0)
config = model.config
rows, columns = 8, 16
image = torch.full((rows * columns,), config.image_token_id)
ids = torch.cat([torch.arange(5), image, torch.arange(20)])[None]
batch = {
    "input_ids": ids,
    "labels": ids.masked_fill(ids == config.image_token_id, -100),
    "pixel_values": torch.randn(4 * rows * columns, 3 * 2 * 14 * 14),
    "image_grid_thw": torch.tensor([[1, 2 * rows, 2 * columns]]),
    "mm_token_type_ids": (ids == config.image_token_id).int(),
}
tower = model.model.visual
weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
saved = {"tower": {}, "language model": {}}
where = ["language model"]
tower.register_forward_pre_hook(lambda *_: where.append("tower"))
tower.register_forward_hook(lambda *_: where.append("language model"))


def note(tensor):
    storage = tensor.untyped_storage()
    if storage.data_ptr() not in weights:
        saved[where[-1]][storage.data_ptr()] = storage.nbytes()
    return tensor


with saved_tensors_hooks(note, lambda tensor: tensor):
    loss = model(**batch).loss
before = {name: p.detach().clone() for name, p in model.named_parameters()}
loss.backward()
optimizer.step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
gradients = sum(p.grad.nbytes for p in tower.parameters() if p.grad is not None)
states = sum(
    value.nbytes
    for p in tower.parameters()
    for value in optimizer.state.get(p, {}).values()
)
print("tower: gradients", gradients, "bytes, optimizer states", states, "bytes")
# --8<-- [end:is-it-on]
shown = " ".join(map(str, printed.call_args.args))

held = {name: sum(each.values()) for name, each in saved.items()}
print(f"saved activations: {held}")
moved = {n for n, p in model.named_parameters() if not p.equal(before[n])}
of_tower = {n for n in before if n.startswith("model.visual")}
assert moved >= before.keys() - of_tower, "a part of the language model stays"
assert held["language model"] > 0
assert (gradients, states) == (0, 0), f"{gradients} and {states} bytes"
assert shown == "tower: gradients 0 bytes, optimizer states 0 bytes", shown
assert held["tower"] == 0, f"the tower saves {held['tower']} bytes"
assert not moved & of_tower, "the tower has moved"

# With checkpointing, transformers makes the tower's first output require a gradient.
image = {"grid_thw": batch["image_grid_thw"]}
model.activation_checkpointing_enable()
features = tower(batch["pixel_values"], **image).pooler_output
assert features.requires_grad, (
    "checkpointing leaves the tower without a graph by now"
)
model.disable_input_require_grads()
features = tower(batch["pixel_values"], **image).pooler_output
assert not features.requires_grad, "the tower still has a graph"
