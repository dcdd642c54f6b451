# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "safetensors>=0.5"]
#
# [tool.headroom]
# ablation = { "max_shard_size=\"2MB\"" = "max_shard_size=\"50GB\"" }
# ///
"""A sharded checkpoint has an index from weight to file. safe_open reads a part of one weight, without the rest of the file."""

import json
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import LlamaConfig, LlamaForCausalLM


def read_by_calls() -> int:
    """Return the bytes that this process has read, not counting mapped files."""
    return int(Path("/proc/self/io").read_text().split()[1])


config = LlamaConfig(
    vocab_size=1024,
    hidden_size=256,
    intermediate_size=512,
    num_hidden_layers=4,
    num_attention_heads=4,
)
model = LlamaForCausalLM(config)
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    # --8<-- [start:enable]
    model.save_pretrained(folder, max_shard_size="2MB")  # 50GB by default
    # --8<-- [end:enable]
    files = sorted(folder.glob("*.safetensors"))
    assert len(files) > 4, len(files)
    start = read_by_calls()

    # --8<-- [start:read]
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    weight = "model.layers.3.mlp.down_proj.weight"
    with safe_open(folder / index["weight_map"][weight], framework="pt") as file:
        part = file.get_slice(weight)[:, :128]
    # --8<-- [end:read]
    read = read_by_calls() - start
    shard = folder / index["weight_map"][weight]
    size, start = shard.stat().st_size, read_by_calls()
    shard.read_bytes()
    assert read_by_calls() - start >= size, "the counter does not see a whole file"
    again = LlamaForCausalLM.from_pretrained(folder, dtype="auto")

print(f"{len(files)} files; read {tuple(part.shape)} of {weight}")
assert part.nbytes < size / 4, "the part is most of the file"
assert read < size / 10, f"{read} of {size} bytes were read, and not mapped"
assert torch.equal(part, model.get_parameter(weight)[:, :128])
assert set(index["weight_map"]) == set(model.state_dict())
for name, tensor in model.state_dict().items():
    assert torch.equal(tensor, again.state_dict()[name]), name
