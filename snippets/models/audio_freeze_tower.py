# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["mistralai/Voxtral-Mini-3B-2507"]
# ablation = { "model.model.audio_tower.requires_grad_(requires_grad=False)" = "model.model.audio_tower.requires_grad_(requires_grad=True)" }
# ///
"""A frozen audio tower has no gradients and no optimizer states, and saves no activations. Projector and language model train as before."""

from unittest.mock import patch

import torch
from torch.autograd.graph import saved_tensors_hooks
from transformers import VoxtralForConditionalGeneration

checkpoint = "mistralai/Voxtral-Mini-3B-2507"

# --8<-- [start:enable]
model = VoxtralForConditionalGeneration.from_pretrained(
    checkpoint, dtype=torch.float32
)
model.model.audio_tower.requires_grad_(requires_grad=False)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-5)
# --8<-- [end:enable]

torch.manual_seed(0)
audio = torch.full((375,), model.config.audio_token_id)  # one window of 30 s
ids = torch.cat([torch.arange(100, 105), audio, torch.arange(200, 220)])[None]
batch = {
    "input_ids": ids,
    "labels": ids.masked_fill(ids == model.config.audio_token_id, -100),
    "input_features": torch.randn(1, 128, 3000),
}
tower = model.model.audio_tower
weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
saved = {"tower": 0, "rest": 0}
where = ["rest"]
tower.register_forward_pre_hook(lambda *_: where.append("tower"))
tower.register_forward_hook(lambda *_: where.append("rest"))


def note(tensor):
    if tensor.untyped_storage().data_ptr() not in weights:
        saved[where[-1]] += tensor.nbytes
    return tensor


before = {name: p.detach().clone() for name, p in model.named_parameters()}
with saved_tensors_hooks(note, lambda tensor: tensor):
    loss = model(**batch).loss
loss.backward()
optimizer.step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
frozen = sum(p.numel() for p in model.model.audio_tower.parameters())
held = sum(p.grad.numel() for p in model.parameters() if p.grad is not None)
print(f"{frozen:,} parameters in the tower, {held:,} gradients in all")
# --8<-- [end:is-it-on]
shown = printed.call_args.args

rest = sum(p.numel() for p in model.parameters()) - frozen
assert shown == (
    f"{frozen:,} parameters in the tower, {rest:,} gradients in all",
), f"printed was {shown}"
assert frozen > 0
assert saved["rest"] > 0
assert saved["tower"] == 0, f"the tower saved {saved['tower']} bytes"
assert len(optimizer.state) == len(trained), "states of other parameters"
for name, p in model.named_parameters():
    in_tower = "audio_tower" in name
    assert (p.grad is None) == in_tower, f"{name}: gradient"
    assert torch.equal(p, before[name]) == in_tower, f"{name}: changed or not"
assert any("multi_modal_projector" in name for name in before)

# Control: a tower that trains saves activations, and the loss is the same.
model.load_state_dict(before)
tower.requires_grad_(requires_grad=True)
with saved_tensors_hooks(note, lambda tensor: tensor):
    again = model(**batch).loss
assert saved["tower"] > 0, "the control saved nothing"
torch.testing.assert_close(again, loss)
