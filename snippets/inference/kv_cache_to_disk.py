# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "safetensors>=0.5"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "past_key_values=load(file, model)" = "past_key_values=DynamicCache(config=model.config)" }
# ///
"""Write a conversation's KV cache to a file between two turns: the second turn computes its new tokens, and gives the tokens of a run without the file."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    Qwen2Config,
)

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "conversation.safetensors"
computed = []
model.model.register_forward_pre_hook(
    lambda _, args, kwargs: computed.append(
        kwargs["input_ids"].shape[1]
        if kwargs.get("inputs_embeds") is None
        else kwargs["inputs_embeds"].shape[1]
    ),
    with_kwargs=True,
)
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:enable]
def save(cache: DynamicCache, file: Path) -> None:
    if any(cache.is_sliding):
        raise ValueError("a sliding layer also has a position, which is not saved")
    tensors = {}
    for i, layer in enumerate(cache.layers):
        tensors[f"{i}.keys"], tensors[f"{i}.values"] = layer.keys, layer.values
    save_file(tensors, file)


def load(file: Path, model) -> DynamicCache:
    tensors = load_file(file, device=str(model.device))
    cache = DynamicCache(config=model.config)
    for i in range(model.config.num_hidden_layers):
        cache.update(tensors[f"{i}.keys"], tensors[f"{i}.values"], i)
    return cache


first = tokenizer("What is a KV cache?" * 20, return_tensors="pt")["input_ids"]
cache = DynamicCache(config=model.config)
history = model.generate(first, past_key_values=cache, max_new_tokens=16)
save(cache, file)
del cache  # the user reads; another conversation has the memory

question = tokenizer(" And on disk?", return_tensors="pt")["input_ids"]
ids = torch.cat([history, question], dim=1)  # tokens: decoded text can differ
answer = model.generate(ids, past_key_values=load(file, model), max_new_tokens=16)
# --8<-- [end:enable]
turn = computed[len(history[0]) - len(first[0]) :]
config, kept = model.config, len(history[0]) - 1  # the last token was not computed
head = getattr(config, "head_dim", config.hidden_size // config.num_attention_heads)
per_token = 2 * config.num_hidden_layers * config.num_key_value_heads * head * 4
print(f"the second turn computed {turn[0]} of {len(ids[0])} tokens of its prompt")
print(f"the file holds {kept} tokens of {per_token:,} bytes")

# The proof: the second prefill has the new tokens and the one that the first turn returned last.
assert turn[0] == len(question[0]) + 1, turn
assert set(turn[1:]) == {1}
assert len(ids[0]) > 80, "the history must be longer than the question"
assert printed.call_args_list[0].args[0] == (
    f"the second turn computed {len(question[0]) + 1} of {len(ids[0])} tokens of its prompt"
)
# The answer is the one that the whole text gives when nothing is kept, and it continues the history.
usual = model.generate(ids, max_new_tokens=16)
assert torch.equal(answer, usual), "other tokens than without the file"
assert torch.equal(answer[:, : len(history[0])], history)
assert computed[-16:][0] == len(
    ids[0]
)  # positive control: that run computed everything
# The file has the bytes of the formula, without the header of names and shapes.
shapes = [each.shape for each in load_file(file).values()]
assert len(shapes) == 2 * config.num_hidden_layers
assert {shape[-2] for shape in shapes} == {kept}
data = file.stat().st_size - 8 - int.from_bytes(file.read_bytes()[:8], "little")
assert data == per_token * kept, (data, per_token * kept)
# What is loaded is what the model would compute, and it decides the next token's logits.
fresh = DynamicCache(config=config)
with torch.no_grad():
    model(history[:, :-1], past_key_values=fresh)
    for ours, theirs in zip(load(file, model).layers, fresh.layers, strict=True):
        torch.testing.assert_close(ours.keys, theirs.keys, atol=1e-4, rtol=1e-3)
        torch.testing.assert_close(ours.values, theirs.values, atol=1e-4, rtol=1e-3)
    right, wrong = load(file, model), load(file, model)
    right = model(history[:, -1:], past_key_values=right).logits
    for layer in wrong.layers:
        layer.values = -layer.values
    wrong = model(history[:, -1:], past_key_values=wrong).logits
assert not torch.allclose(right, wrong, atol=1e-3)
# A cache right after a prefill can be saved too, and one with a sliding layer is refused.
save(fresh, file)
assert load(file, model).get_seq_length() == kept
message = ""
try:
    mixed = Qwen2Config(
        num_hidden_layers=2,
        layer_types=["full_attention", "sliding_attention"],
        use_sliding_window=True,
        sliding_window=4,
    )
    mixed = DynamicCache(config=mixed)
    assert mixed.is_sliding == [False, True]
    save(mixed, file)
except ValueError as error:
    message = str(error)
assert "sliding layer" in message
folder.cleanup()
