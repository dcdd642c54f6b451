# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda"]
# ablation = { "offload=True" = "offload=False" }
# ///
"""With offload, the input of each checkpointed block waits for backward in host memory, not on the GPU."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "What is not needed until backward can wait somewhere else. " * 16
batch = tokenizer([text] * 8, return_tensors="pt").to("cuda")


def load():
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    return model.to("cuda").train()


# --8<-- [start:enable]
model = load()
model.activation_checkpointing_enable(offload=True)
# --8<-- [end:enable]


# --8<-- [start:is-it-on]
def left_by_forward(model):
    """Bytes of GPU memory that are held when backward is about to start."""
    with torch.no_grad():
        model(**batch)  # the first pass also allocates cuBLAS's workspace
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    loss = model(**batch, labels=batch["input_ids"]).loss
    torch.cuda.synchronize()
    left = torch.cuda.memory_allocated() - before
    loss.backward()
    return left


kept = left_by_forward(model)
print(f"{kept / 2**20:.1f} MiB are held on the GPU for backward")
# --8<-- [end:is-it-on]

# The proof: the inputs of all blocks are gone from the GPU, and the gradients are the same.
on_gpu = load()
on_gpu.activation_checkpointing_enable()
kept_on_gpu = left_by_forward(on_gpu)
tokens, width = batch["input_ids"].numel(), model.config.hidden_size
inputs = 4 * tokens * width * model.config.num_hidden_layers
print(f"{(kept_on_gpu - kept) / inputs:.2f} times the blocks' inputs less")
# All but the first: what the embedding returns may be held elsewhere, too.
first = inputs / model.config.num_hidden_layers
assert kept_on_gpu - kept >= 0.95 * (inputs - first), (
    f"{kept_on_gpu - kept} bytes less are held, and the inputs have {inputs}"
)
for one, other in zip(model.parameters(), on_gpu.parameters(), strict=True):
    apart = (one.grad - other.grad).norm() / other.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"
