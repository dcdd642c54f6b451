# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "def loss_by_vocabulary(states, weight, labels, block=256):" = "def loss_by_vocabulary(states, weight, labels, block=1 << 30):" }
# ///
"""A loss that goes through the vocabulary in blocks needs one running log-sum-exp per token, and never holds a token's whole row of logits. Loss and gradients stay the same."""

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).to(device)
ids = tokenizer(["A logit per token and word. " * 8] * 8, return_tensors="pt")
ids = ids["input_ids"].to(device)
states = model.transformer(ids).last_hidden_state[:, :-1].flatten(0, 1).detach()
states.requires_grad_()
weight, labels = model.lm_head.weight, ids[:, 1:].flatten()


# --8<-- [start:enable]
def loss_by_vocabulary(states, weight, labels, block=256):
    """Cross-entropy from blocks of the vocabulary: log-sum-exp minus one logit."""

    def add(total, part):
        logits = states @ part.T  # tokens × block, freed at once
        return torch.logaddexp(total, logits.logsumexp(1))

    total = states.new_full((len(states),), -torch.inf)
    for part in weight.split(block):
        total = checkpoint(add, total, part, use_reentrant=False)
    wanted = (states * weight[labels]).sum(1)  # each token's own logit
    return (total - wanted).mean()


# --8<-- [end:enable]

widest = []
matmul = torch.Tensor.__matmul__


def note(left, right):
    result = matmul(left, right)
    widest.append(result.shape[1])
    return result


def gradients(loss):
    loss.backward()
    found = states.grad.clone(), weight.grad.clone()
    states.grad = weight.grad = None
    return found


torch.Tensor.__matmul__ = note
blocks = loss_by_vocabulary(states, weight, labels)
torch.Tensor.__matmul__ = matmul
vocabulary = len(weight)
print(f"{max(widest)} of {vocabulary} logits per token at a time")
assert sum(widest) == vocabulary, "a block is missing"
assert max(widest) == 256, f"{max(widest)} logits per token at a time"

whole = cross_entropy(states @ weight.T, labels)
assert torch.allclose(blocks, whole, rtol=1e-5), f"{blocks} instead of {whole}"
for found, expected in zip(gradients(blocks), gradients(whole), strict=True):
    apart = (found - expected).norm() / expected.norm()
    assert apart < 1e-4, f"a gradient differs by {apart:.1e}"

# Saved for backward: hidden states, weights and running sums, and no logits.
kept = []


def keep(tensor):
    kept.append(tensor.numel())
    return tensor


with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
    loss_by_vocabulary(states, weight, labels)
assert len(states) * 256 not in kept, "the logits of a block are saved"
assert len(states) * vocabulary not in kept, "all logits are saved"
