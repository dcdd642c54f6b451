# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# ablation = { '"disk" if n > 1' = '"cpu" if n > 1' }
# ///
"""Layers on the disk: their weights are read from the checkpoint at each forward pass and freed after it. No copy is written."""

import tempfile
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=512,
    hidden_size=256,
    intermediate_size=512,
    num_hidden_layers=4,
    num_attention_heads=4,
    tie_word_embeddings=False,
)
whole = LlamaForCausalLM(config).eval()
ids = torch.arange(16)[None]
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    whole.save_pretrained(folder / "checkpoint")
    # --8<-- [start:enable]
    device_map = {f"model.layers.{n}": "disk" if n > 1 else "cpu" for n in range(4)}
    others = ("model.embed_tokens", "model.norm", "model.rotary_emb", "lm_head")
    device_map |= dict.fromkeys(others, "cpu")
    model = LlamaForCausalLM.from_pretrained(
        folder / "checkpoint",
        device_map=device_map,
        offload_folder=folder / "offload",
    )
    # --8<-- [end:enable]
    away = [name for name, p in model.named_parameters() if p.is_meta]
    with torch.no_grad():
        logits = model(ids).logits
    still = [name for name, p in model.named_parameters() if p.is_meta]
    copied = (
        list((folder / "offload").glob("*"))
        if (folder / "offload").exists()
        else []
    )

print(
    f"{len(away)} weights are on the disk, {len(copied)} files in the offload folder"
)
assert len(away) == 2 * 9, away
assert all(name.startswith(("model.layers.2.", "model.layers.3.")) for name in away)
assert still == away, "weights stayed in memory after the pass"
assert copied == [], copied
with torch.no_grad():
    torch.testing.assert_close(logits, whole(ids).logits)
