# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# no_ablation = "it measures a training step and turns nothing on; its sums are held to the parts instead"
# ///
"""Where the memory of a training step goes: what each part of it takes at its largest."""

# --8<-- [start:measure]
import torch
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"  # your model, and a batch that fits
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "Count the bytes before you buy the card."
batch = tokenizer([text] * 8, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def held(tensors) -> int:
    """Bytes of distinct tensors."""
    sizes = {t.data_ptr(): t.numel() * t.element_size() for t in tensors}
    return sum(sizes.values())


for _ in range(2):  # from the second step on, the optimizer's states exist
    with profile(profile_memory=True) as trace:
        loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()
    gradients = held(p.grad for p in model.parameters() if p.grad is not None)
    optimizer.step()
    optimizer.zero_grad()

groups = optimizer.state.values()
rows = trace.key_averages()  # what the forward pass allocated and did not free
head = model.get_output_embeddings().weight
tied = head is model.get_input_embeddings().weight
copies = 2 * head.nbytes if tied else 0  # at the end of backward
logits = 4 * batch["input_ids"].numel() * model.config.vocab_size
kept = sum(row.self_cpu_memory_usage + row.self_device_memory_usage for row in rows)
parts = {
    "weights": held(model.parameters()),
    "gradients": gradients,
    "optimizer states": held(
        t for group in groups for t in group.values() if t.dim()
    ),
    "B, fused": gradients + copies,
    "B, foreach": max(2 * gradients, gradients + copies),
    "saved activations": kept,
    "logits": logits,
    "A": kept + max(2 * logits, head.nbytes),
}
for name, size in parts.items():
    print(f"{name:>18}: {size / 2**20:8.1f} MiB")
# --8<-- [end:measure]

trained = sum(p.numel() for p in model.parameters())
assert parts["weights"] == parts["gradients"] == 4 * trained, (
    "fp32 weights and gradients take 4 bytes per parameter"
)
assert parts["optimizer states"] == 8 * trained, (
    "AdamW holds two fp32 numbers per parameter"
)
assert kept > logits, "the logits alone are larger than what was counted"
embedding = 4 * model.config.vocab_size * model.config.n_embd
assert parts["B, fused"] == 4 * trained + 2 * embedding, "the embedding is tied"
assert parts["B, foreach"] == 8 * trained, "the update is the larger moment"

# The logits are those that the model returns. And A is the peak of forward and backward
# together, beyond what is held before, as the allocations of one step show it.
assert parts["logits"] == model(**batch).logits.nbytes, "these are not the logits"
assert parts["A"] == parts["saved activations"] + max(2 * logits, embedding)
with profile(profile_memory=True) as trace:
    model(**batch, labels=batch["input_ids"]).loss.backward()
now = peak = 0
for event in sorted(
    trace.profiler.kineto_results.events(), key=lambda e: e.start_ns()
):
    if event.name() == "[memory]":
        now += event.nbytes()
        peak = max(peak, now)
print(f"{peak / 2**20:.1f} MiB at the peak of forward and backward")
assert parts["A"] > parts["B, fused"], "activations are not the larger part"
assert abs(peak / parts["A"] - 1) < 0.1, f"A is {parts['A']}, the peak {peak}"
