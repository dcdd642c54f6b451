# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "torchao>=0.18"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "Accelerator(mixed_precision=\"fp8\")" = "Accelerator(mixed_precision=\"bf16\")" }
# ///
"""Accelerate runs the matmuls of all linear layers but the first and the last in fp8, also in compiled blocks. It pads a number of tokens that 16 does not divide."""

import torch
from accelerate import Accelerator
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

if (
    not torch.cuda.is_available()
):  # graphs without generated code: a test takes seconds
    torch.compiler.set_default_backend("aot_eager")
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)

# --8<-- [start:enable]
accelerator = Accelerator(mixed_precision="fp8")
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
model, optimizer = accelerator.prepare(model.train(), optimizer)
model.config.use_cache = False
for block in model.model.layers:  # or the casts are kernels of their own
    block.compile()
# --8<-- [end:enable]

text = "Eight bits are enough for a matmul."
batch = tokenizer([text] * 4, return_tensors="pt").to(accelerator.device)
if batch["input_ids"].numel() % 16 == 0:  # a number that fp8 matmuls do not take
    batch = batch.__class__({name: ids[:3, 1:] for name, ids in batch.items()})
accelerator.backward(model(**batch, labels=batch["input_ids"]).loss)  # compiles
with profile(record_shapes=True) as trace:
    loss = model(**batch, labels=batch["input_ids"]).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
rows = trace.key_averages(group_by_input_shape=True)
matmuls = [row for row in rows if row.key == "aten::_scaled_mm"]
found = sum(row.count for row in matmuls)
summed = {row.input_shapes[0][1] for row in matmuls}  # over which sums run
linear = 7 * model.config.num_hidden_layers  # and the head, which is the last
print(f"{found} fp8 matmuls, in a model of {linear} linear layers and a head")
assert batch["input_ids"].numel() % 16, "the number of tokens needs no padding"
ran = [row for row in rows if "Compiled Region" in row.key]
assert ran, "nothing that was compiled ran"
whole = [b for b in model.model.layers if b._compiled_call_impl is None]  # noqa: SLF001
assert not whole, f"{len(whole)} blocks are not compiled"
assert found == 3 * (linear - 1), f"{found} fp8 matmuls"
assert not any(size % 16 for size in summed), f"sums over {summed} were not padded"
assert {p.dtype for p in model.parameters()} == {torch.float32}
assert model.training, "the model is not in training"
layers = {n: m for n, m in model.named_modules() if hasattr(m, "in_features")}
left_out = [n for n, m in layers.items() if type(m) is torch.nn.Linear]
assert left_out == [next(iter(layers)), "lm_head"], f"not in fp8: {left_out}"
