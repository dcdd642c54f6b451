# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# datasets = ["Salesforce/wikitext"]
# timeout = 120
# ablation = { "model.config.use_cache = False" = "" }
# ///
"""Sequences put end to end do not see each other if positions restart and the model uses no cache. The loss is that of a padded batch."""

from unittest.mock import patch

import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorWithFlattening,
)

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)

# How many rows does the first linear layer get?
rows = []
layer = next(m for m in model.modules() if isinstance(m, torch.nn.Linear))
hook = layer.register_forward_hook(
    lambda module, args, output: rows.append(output.shape[:-1].numel())
)

untrained = layer.weight.detach().clone()

# --8<-- [start:enable]
model.config.use_cache = False  # with a cache, sequences see each other
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
collate = DataCollatorWithFlattening()
loader = DataLoader(tokens, batch_size=8, collate_fn=collate)
for batch in loader:
    inputs = {name: tensor.to(device) for name, tensor in batch.items()}
    model(**inputs).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
# --8<-- [end:enable]

hook.remove()
assert not untrained.equal(layer.weight), "nothing was trained"
assert all(p.grad is None for p in model.parameters()), "a gradient was left"
lengths = [len(ids) for ids in tokens["input_ids"]]
assert sum(rows) == sum(lengths), (
    f"{sum(rows)} rows for {sum(lengths)} tokens: there is padding"
)

count = len(lengths) % 8 or 8  # sequences in the last batch
restarts = inputs.get("position_ids", torch.ones(1)) == 0
assert restarts.sum() == count, (
    f"{restarts.sum()} positions of 0, {count} sequences"
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
model.eval()  # without dropout
first = int((inputs["position_ids"][0] == 0).nonzero()[1])  # its length
changed = dict(inputs, input_ids=inputs["input_ids"].clone())
changed["input_ids"][:, :first] = 7  # the first sequence, and no other
with torch.no_grad():
    apart = (model(**inputs).logits - model(**changed).logits).abs()[0]
print(f"the first moves by {apart[:first].max():.2g}")
print(f"the others move by {apart[first:].max():.2g}")  # on: 0
# --8<-- [end:is-it-on]
shown = [call.args[0] for call in printed.call_args_list]

assert apart[:first].max() > 0.01, "the change has no effect at all"
assert apart[first:].max() == 0, (
    f"another sequence moves the logits by {apart[first:].max():.2g}"
)
length = lengths[-count]
assert first == length, f"the first sequence has {length} tokens, not {first}"
assert shown == [
    f"the first moves by {apart[:length].max():.2g}",
    "the others move by 0",
], f"printed was {shown}"
assert not model.training, "the model is in training mode"
assert not apart.requires_grad, "the check saved activations"

# The loss is that of the padded batch: no label reaches over a boundary.
last = [tokens[i] for i in range(len(tokens) - len(tokens) % 8, len(tokens))]
last = last or [tokens[i] for i in range(len(tokens) - 8, len(tokens))]
padded = DataCollatorForLanguageModeling(tokenizer, mlm=False)(last).to(device)
# The padding token is the end of text here, so labels are hidden where the mask is 0.
padded["labels"] = padded["input_ids"].masked_fill(
    padded["attention_mask"] == 0, -100
)
with torch.no_grad():
    losses = model(**inputs).loss, model(**padded).loss
assert torch.allclose(*losses, rtol=1e-5), f"the losses are {losses}"


# With SDPA, each block keeps a mask of all pairs, in the dtype of its queries.
def masks(model) -> list[torch.dtype]:
    """The dtypes of the masks that the forward pass leaves for backward."""
    pairs = (inputs["input_ids"].numel(),) * 2
    found = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if tensor.shape[-2:] == pairs and tensor.dtype != torch.bool:
            found[memory.data_ptr()] = memory, tensor.dtype
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(**inputs)
    return [dtype for _, dtype in found.values()]


blocks = model.config.num_hidden_layers
for dtype in (torch.float32, torch.bfloat16):
    assert masks(model.to(dtype)) == [dtype] * blocks, f"kept: {masks(model)}"
