# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "cut-cross-entropy>=25.1"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# needs = ["cuda", "bf16"]
# ablation = { "linear_cross_entropy(states, weight, labels, shift=True)  # as above" = "torch.nn.functional.cross_entropy(model.lm_head(states)[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())" }
# ///
"""Cut Cross-Entropy computes the loss from hidden states and the LM head's weight, and allocates less than one bf16 copy of the logits."""

import torch
from cut_cross_entropy import linear_cross_entropy
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).cuda()
batch = tokenizer(["No logits in memory. " * 64] * 16, return_tensors="pt")
batch = batch.to("cuda")
labels = batch["input_ids"]

# --8<-- [start:enable]
hidden = model.base_model(**batch).last_hidden_state  # bf16
weight = model.lm_head.weight
loss = linear_cross_entropy(hidden, weight, labels, shift=True)
loss.backward()
# --8<-- [end:enable]

expected = model(**batch, labels=labels).loss
assert abs(loss - expected) < 0.02 * expected, f"{loss} instead of {expected}"


# --8<-- [start:is-it-on]
def grown_by(compute):
    """Bytes that a call allocates at its peak."""
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    compute()
    return torch.cuda.max_memory_allocated() - before


logits = 2 * labels.numel() * model.config.vocab_size  # bytes, in bf16
states = hidden.detach().requires_grad_()
peak = grown_by(
    lambda: linear_cross_entropy(states, weight, labels, shift=True)  # as above
)
print(f"{peak / logits:.3f} times the logits")
# --8<-- [end:is-it-on]

assert peak < logits / 2, f"{peak:,} bytes, and the logits have {logits:,}"
calls = []
model.lm_head.register_forward_hook(lambda *args: calls.append(1))
model.base_model(**batch)
assert not calls, "the LM head made logits"
