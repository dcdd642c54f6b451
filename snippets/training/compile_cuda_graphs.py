# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda", "bf16"]
# timeout = 300
# ablation = { "block.compile(mode=\"reduce-overhead\")" = "block.compile()" }
# ///
"""With mode="reduce-overhead", compiled blocks replay CUDA graphs in the forward and the backward pass from the third step on."""

import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["One launch per block."] * 8, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

# --8<-- [start:enable]
model.config.use_cache = False
for block in model.model.layers:
    block.compile(mode="reduce-overhead")


def step():
    torch.compiler.cudagraph_mark_step_begin()  # outputs of the last step may go
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


# --8<-- [end:enable]

for _ in range(4):  # compile, warm up, record, replay
    step()

# --8<-- [start:is-it-on]
with profile() as trace:
    step()
calls = {row.key: row.count for row in trace.key_averages()}
print(calls.get("cudaGraphLaunch", 0), "graph launches per step")
# --8<-- [end:is-it-on]

layers = model.config.num_hidden_layers
launches = calls.get("cudaGraphLaunch", 0)
assert launches >= 2 * layers, f"{launches} graph launches for {layers} blocks"
