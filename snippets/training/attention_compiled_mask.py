# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "        del batch[\"attention_mask\"]" = "        batch[\"labels\"] = batch[\"labels\"].clone()" }
# ///
"""A compiled model attends without a mask only where the batch brings none; one that is all ones is not looked into."""

import torch
from torch._dynamo import explain
from torch.nn.functional import scaled_dot_product_attention
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
)

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
rows = [tokenizer("Every text is cut to the same length.")] * 4

# --8<-- [start:enable]
pad = DataCollatorForLanguageModeling(tokenizer, mlm=False)


def collate(rows):
    """Pads, and leaves the mask out where it would mask nothing."""
    batch = pad(rows)
    if batch["attention_mask"].all():
        del batch["attention_mask"]
    return batch


# --8<-- [end:enable]

# --8<-- [start:is-it-on]
batch = collate(rows).to(device)
report = explain(model)(**batch)
nodes = [node for graph in report.graphs for node in graph.graph.nodes]
calls = [n for n in nodes if n.target is scaled_dot_product_attention]
masked = [n for n in calls if n.kwargs["attn_mask"] is not None]
print(f"{len(masked)} of {len(calls)} attention calls have a mask")  # 0
# --8<-- [end:is-it-on]

layers = model.config.num_hidden_layers
assert len(calls) == layers, f"{len(calls)} calls of SDPA in {layers} blocks"
assert not masked, f"{len(masked)} of {len(calls)} calls of SDPA have a mask"
assert all(n.kwargs["is_causal"] is True for n in calls), "and are not causal"
padded = pad(rows).to(device)
with torch.no_grad():
    torch.testing.assert_close(model(**batch).loss, model(**padded).loss)
