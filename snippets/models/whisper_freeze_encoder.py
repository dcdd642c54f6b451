# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai/whisper-large-v3"]
# ablation = { "model.freeze_encoder()" = "model.train()" }
# ///
"""Whisper's encoder saves activations for 1,500 frames per clip and layer, as counted by a formula. Frozen, it has no gradients and no optimizer states, and saves nothing, while the decoder trains."""

from unittest.mock import patch

import torch
from torch.autograd.graph import saved_tensors_hooks
from transformers import AutoModelForSpeechSeq2Seq

checkpoint = "openai/whisper-large-v3"

# --8<-- [start:enable]
model = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.float32)
model.freeze_encoder()
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-5)
# --8<-- [end:enable]

torch.manual_seed(0)
config = model.config
encoder = model.model.encoder
model.train()
batch = {
    "input_features": torch.randn(2, config.num_mel_bins, 3000),
    "labels": torch.randint(1000, (2, 12)),
}


def saved_by_encoder(model, batch):
    """Return the loss and the bytes of distinct storages that the encoder's layers and the decoder save."""
    encoder = model.model.encoder
    held = {"layers": {}, "before": {}, "decoder": {}}
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    where = ["before"]

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            held[where[0]][storage.data_ptr()] = storage.nbytes()
        return tensor

    def inside(region):
        def hook(*_):
            where[0] = region

        return hook

    handles = [
        encoder.layers[0].register_forward_pre_hook(inside("layers")),
        encoder.layers[-1].register_forward_hook(inside("before")),
        encoder.register_forward_hook(inside("decoder")),
    ]
    with saved_tensors_hooks(note, lambda tensor: tensor):
        loss = model(**batch).loss
    for handle in handles:
        handle.remove()
    return loss, {name: sum(each.values()) for name, each in held.items()}


# The formula of the page, in 16 bits: for each frame and layer, 34 bytes per hidden unit, 4 per head, 8 for two norms.
def encoder_bytes(clips: int) -> int:
    frame = 34 * config.d_model + 4 * config.encoder_attention_heads + 8
    return clips * config.max_source_positions * config.encoder_layers * frame


whole = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.bfloat16)
whole.train()
half = batch | {"input_features": batch["input_features"].bfloat16()}
loss, in_full = saved_by_encoder(whole, half)
assert in_full["layers"] == encoder_bytes(2), (in_full, encoder_bytes(2))
loss, one = saved_by_encoder(
    whole, {name: values[:1] for name, values in half.items()}
)
assert one["layers"] * 2 == in_full["layers"], "it is the same for each clip"

loss, held = saved_by_encoder(model, batch)
before = {name: p.detach().clone() for name, p in model.named_parameters()}
loss.backward()
optimizer.step()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
gradients = sum(p.grad.nbytes for p in encoder.parameters() if p.grad is not None)
states = sum(
    value.nbytes
    for p in encoder.parameters()
    for value in optimizer.state.get(p, {}).values()
)
print("encoder: gradients", gradients, "bytes, optimizer states", states, "bytes")
# --8<-- [end:is-it-on]
shown = " ".join(map(str, printed.call_args.args))

moved = {
    name.startswith("model.encoder")
    for name, p in model.named_parameters()
    if not p.equal(before[name])
}
print(f"saved activations: {held}")
assert False in moved, "the decoder does not train"
assert held["decoder"] > 0
assert (gradients, states) == (0, 0), f"{gradients} and {states} bytes"
assert shown == "encoder: gradients 0 bytes, optimizer states 0 bytes", shown
assert held["layers"] == held["before"] == 0, f"the encoder saves {held}"
assert True not in moved, "the encoder has moved"

# Checkpointing keeps the frozen encoder without a graph, unless its inputs are made to require gradients.
model.config.use_cache = False
model.activation_checkpointing_enable()
features = encoder(batch["input_features"]).last_hidden_state
assert not features.requires_grad, "checkpointing gives the encoder a graph"
model.enable_input_require_grads()
features = encoder(batch["input_features"]).last_hidden_state
assert features.requires_grad, "no input of the encoder requires a gradient"
