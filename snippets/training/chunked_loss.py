# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "checkpoint(summed, *part, use_reentrant=False)" = "summed(*part)" }
# ///
"""A chunked loss computes the logits of 512 tokens at a time, saves none of them, and gives the same loss and gradients."""

from unittest.mock import patch

import torch
from torch.nn.functional import cross_entropy, pad
from torch.profiler import profile
from torch.utils.checkpoint import checkpoint
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
def chunked_loss(model, labels, *, labels_of_step=None, chunk=512, **inputs):
    """The loss that the model would return, with few logits at a time."""
    head = model.get_output_embeddings()
    hidden = model.base_model(**inputs).last_hidden_state.flatten(0, 1)
    labels = pad(labels, (0, 1), value=-100)[:, 1:].flatten()  # the next token

    def summed(states, wanted):
        return cross_entropy(head(states).float(), wanted, reduction="sum")

    parts = zip(hidden.split(chunk), labels.split(chunk), strict=True)
    sums = [checkpoint(summed, *part, use_reentrant=False) for part in parts]
    if labels_of_step is None:
        labels_of_step = (labels != -100).sum()
    return torch.stack(sums).sum() / labels_of_step


chunked_loss(model, **batch).backward()
# --8<-- [end:enable]
model.zero_grad()
grads = []
head_hook = model.register_forward_pre_hook(
    lambda *_: grads.append(model.lm_head.weight.grad)
)
printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:is-it-on]
def left_by_forward(compute):
    """Bytes that computing a loss has allocated and not freed."""
    with profile(profile_memory=True) as trace:
        loss = compute()
    loss.backward()
    return sum(
        row.self_cpu_memory_usage + row.self_device_memory_usage
        for row in trace.key_averages()
    )


kept = left_by_forward(lambda: chunked_loss(model, **batch))
model.zero_grad()
kept_in_full = left_by_forward(lambda: model(**batch).loss)
model.zero_grad()
logits = 4 * batch["input_ids"].numel() * model.config.vocab_size
print(f"{(kept_in_full - kept) / logits:.2f} times the logits less")  # about 1
# --8<-- [end:is-it-on]
shown = printed.call_args.args[0]
head_hook.remove()

# The proof: all logits less are kept, and loss and gradients are the same.
assert kept_in_full - kept > 0.9 * logits, (
    f"{kept_in_full - kept} bytes less are kept, and the logits have {logits}"
)
assert kept_in_full - kept < 1.1 * logits, "not the size of the logits"
nbytes = model(**batch).logits.nbytes
assert logits == nbytes, (logits, nbytes)
share = (kept_in_full - kept) / nbytes
assert shown == f"{share:.2f} times the logits less", f"printed was {shown}"
assert grads == [None], "the first gradients were still there"
rows = []
hook = model.lm_head.register_forward_hook(
    lambda module, args, logits: rows.append(logits.shape[:-1].numel())
)
chunked_loss(model, **batch)
assert sum(rows) == batch["input_ids"].numel(), f"rows of logits: {rows}"
assert len(rows) > 1, "all logits were computed at once"
assert max(rows) == 512, f"{max(rows)} rows of logits at a time"
hook.remove()
batch["labels"] = batch["labels"].clone()
batch["labels"][:, ::3] = -100  # as padding has, which counts for nothing
chunked = chunked_loss(model, **batch, chunk=100)
chunked.backward()
gradients = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
full = model(**batch).loss
full.backward()
assert torch.allclose(chunked, full), f"the loss is {chunked} instead of {full}"
with torch.no_grad():
    part = chunked_loss(
        model, **batch, labels_of_step=2 * (batch["labels"] != -100)[:, 1:].sum()
    )
assert torch.allclose(2 * part, full), "labels_of_step does not divide the loss"
for gradient, p in zip(gradients, model.parameters(), strict=True):
    apart = (gradient - p.grad).norm() / p.grad.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e} of its length"
# Over bf16, the loss is still computed in fp32.
low = chunked_loss(model.bfloat16(), **batch)
assert low.dtype == torch.float32, f"the loss is {low.dtype}"
assert abs(low - full) < 0.01 * full, f"the loss is {low} instead of {full}"
