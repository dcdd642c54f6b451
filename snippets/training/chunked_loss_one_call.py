# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "options=LinearCrossEntropyOptions()" = "options=None" }
# ///
"""PyTorch 2.13 has a chunked loss as one call. It saves no logits, because it computes the LM head's gradients in the forward pass."""

import torch
from torch.nn import LinearCrossEntropyOptions
from torch.nn.functional import linear_cross_entropy, pad
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).to(device)
model.eval()  # without dropout, so that losses can be compared
text = "The logits have a number for every token and every word. " * 8
batch = tokenizer([text] * 8, return_tensors="pt").to(device)
batch["labels"] = batch["input_ids"]


# --8<-- [start:enable]
def chunked_loss(model, labels, *, labels_of_step=None, **inputs):
    """The loss that the model would return, with few logits at a time."""
    labels = pad(labels, (0, 1), value=-100)[:, 1:].flatten()  # the next token
    summed = linear_cross_entropy(
        model.base_model(**inputs).last_hidden_state.flatten(0, 1),
        model.get_output_embeddings().weight,
        labels,
        reduction="sum",
        options=LinearCrossEntropyOptions(),
    )
    if labels_of_step is None:
        labels_of_step = (labels != -100).sum()
    return summed / labels_of_step


# --8<-- [end:enable]


def left_by_forward(compute):
    """Bytes that computing a loss has allocated and not freed."""
    with profile(profile_memory=True) as trace:
        loss = compute()
    loss.backward()
    return sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage
        for row in trace.key_averages()
    )


# The proof: the logits are not kept. The gradients of head and inputs are, already in the forward pass.
# What reaches the weights is the same.
kept = left_by_forward(lambda: chunked_loss(model, **batch))
gradients = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
kept_in_full = left_by_forward(lambda: model(**batch).loss)
tokens, width = batch["input_ids"].numel(), model.config.n_embd
words = model.config.vocab_size
print(f"{kept_in_full - kept:,} bytes less, logits {4 * tokens * words:,}")
expected = 4 * (tokens * words - words * width - tokens * width)
assert kept_in_full - kept > 0.9 * expected, (
    f"{kept_in_full - kept} bytes less are kept, and {expected} were expected"
)
assert kept_in_full - kept < 1.3 * expected, "the gradients were not kept"
for gradient, p in zip(gradients, model.parameters(), strict=True):
    apart = (gradient - p.grad).norm() / p.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"

# In the backward pass, each matrix of the blocks takes two matmuls, and the LM head none.
loss = chunked_loss(model, **batch)
with profile() as trace:
    loss.backward()
matmuls = {row.key: row.count for row in trace.key_averages()}["aten::mm"]
assert matmuls == 2 * 4 * model.config.n_layer, f"{matmuls} matmuls in backward"
labels = batch["labels"].clone()
labels[:, ::3] = -100  # as padding has, which counts for nothing
with torch.no_grad():
    full = model(batch["input_ids"], labels=labels).loss
    one_call = chunked_loss(model, labels, input_ids=batch["input_ids"])
    counted = (labels != -100)[:, 1:].sum()
    part = chunked_loss(
        model, labels, labels_of_step=2 * counted, input_ids=batch["input_ids"]
    )
assert torch.allclose(one_call, full, rtol=1e-6, atol=1e-5), (
    f"the loss is {one_call} instead of {full}"
)
assert torch.allclose(2 * part, full, rtol=1e-6, atol=1e-5), (
    "labels_of_step does not divide the loss"
)
# A row with padding on the left has the model's loss, because the mask reaches the model.
mask = torch.ones_like(labels)
mask[::2, : mask.shape[1] // 2] = 0
padded = {"input_ids": batch["input_ids"], "attention_mask": mask}
labels = batch["labels"].masked_fill(mask == 0, -100)
with torch.no_grad():
    full = model(**padded, labels=labels).loss
    one_call = chunked_loss(model, labels, **padded)
    unmasked = model(batch["input_ids"], labels=labels).loss
assert torch.allclose(one_call, full, rtol=1e-6, atol=1e-5), (
    f"with padding, the loss is {one_call} instead of {full}"
)
assert abs(unmasked - full) > 1e-4, "the mask changes nothing"

# Over bf16 the call adds the loss up in bf16, on a CPU at least: here it is wrong by more than rounding.
torch.manual_seed(0)
states, weight = torch.randn(512, 64), torch.randn(16_384, 64) / 8
wanted = torch.randint(16_384, (512,))
accurate = LinearCrossEntropyOptions(acc_policy="accurate")
full = linear_cross_entropy(states, weight, wanted)
low = linear_cross_entropy(
    states.bfloat16().requires_grad_(),
    weight.bfloat16().requires_grad_(),
    wanted,
    options=accurate,
)
print(f"over bf16 the loss is {low:.2f}, and not {full:.2f}")
assert low.dtype == torch.bfloat16, f"the loss is {low.dtype} by now"
assert abs(low - full) > 0.1 * full, f"by now it is right: {low} for {full}"


# Autocast does not reach the call: its matmuls run in fp32. Inputs cast to bf16 give bf16 matmuls.
class Inputs(TorchDispatchMode):
    """Record the types that the chunked loss receives."""

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        if "linear_cross_entropy" in str(call):
            self.dtypes = {a.dtype for a in args[:2]}
        return call(*args, **(kwargs or {}))


with Inputs() as seen, torch.autocast(device, torch.bfloat16):
    chunked_loss(model, **batch)
    assert seen.dtypes == {torch.float32}, f"autocast reaches it: {seen.dtypes}"
    head = torch.nn.functional.linear(states.to(device), weight.to(device))
    assert head.dtype == torch.bfloat16, "autocast is off"
    linear_cross_entropy(
        states.to(device, torch.bfloat16),
        weight.to(device, torch.bfloat16),
        wanted.to(device),
        options=accurate,
    )
    assert seen.dtypes == {torch.bfloat16}, f"the cast has no effect: {seen.dtypes}"
