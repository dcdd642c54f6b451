# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 180
# ablation = { "for block in model.model.layers:" = "for block in [model]:" }
# ///
"""With compiled blocks, attention gets no mask from a batch without padding. In a model compiled as a whole, it gets one."""

from unittest.mock import patch

import torch
from torch.profiler import profile
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
)

device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":  # graphs without generated code, so that a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
pad = DataCollatorForLanguageModeling(tokenizer, mlm=False)
rows = [tokenizer("Every text is cut to the same length.")] * 4
batch = pad(rows).to(device)  # its attention_mask is all ones
with torch.no_grad():
    expected = model(**batch).loss  # before it is compiled

# --8<-- [start:enable]
model.config.use_cache = False  # the Trainer does so by itself
for block in model.model.layers:
    block.compile()
# --8<-- [end:enable]

loss = model(**batch).loss
loss.backward()

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with profile(record_shapes=True) as trace:
    model(**batch).loss.backward()
for row in trace.key_averages(group_by_input_shape=True):
    if row.key.startswith("aten::_scaled_dot_product"):
        print(row.count, row.key, row.input_shapes)  # a mask: tokens × tokens
# --8<-- [end:is-it-on]
lines = [call.args for call in printed.call_args_list]

tokens = batch["input_ids"].shape[1]
shown = trace.key_averages(group_by_input_shape=True)
calls = [row for row in shown if row.key.startswith("aten::_scaled_dot_product")]
shapes = [shape for row in calls for shape in row.input_shapes if len(shape) == 4]
masks = [shape for shape in shapes if shape[-2:] == [tokens, tokens]]
ran = {row.key for row in shown if "Compiled Region" in row.key}
assert tokens != model.config.head_dim, "a mask would look like the queries"
assert batch["attention_mask"].all(), "the batch has padding"
assert len(ran) == 1, f"the second step ran {ran}"
assert calls, "attention calls none of PyTorch's kernels"
assert shapes, "no shapes were recorded"
assert {row.count for row in calls} == {len(model.model.layers)}, calls
assert lines == [(row.count, row.key, row.input_shapes) for row in calls], lines
assert not masks, f"attention is called with a mask of {masks[0]}"
assert torch.allclose(loss.detach(), expected, rtol=1e-4, atol=1e-5), (
    f"the loss is {loss}, not {expected}"
)

# With padding there must be a mask, which proves that the check would see it.
padded = pad([*rows[1:], tokenizer("Not this one.")]).to(device)
with profile(record_shapes=True) as trace:
    model(**padded)
shown = trace.key_averages(group_by_input_shape=True)
calls = [row for row in shown if row.key.startswith("aten::_scaled_dot_product")]
shapes = [shape for row in calls for shape in row.input_shapes if len(shape) == 4]
assert any(s[-2:] == [tokens, tokens] for s in shapes), "a padded batch has no mask"
