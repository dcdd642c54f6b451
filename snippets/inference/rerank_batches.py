# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { 'padding_side="left"' = 'padding_side="right"' }
# ///
"""Rerank with a causal model: the probability of "yes" after each pair of question and document, from one prefill per pair. In batches, each pair has the score that it has alone."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "Qwen/Qwen3-0.6B"
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).eval()
question = "What may I do with the work?"
documents = [
    "You may copy it.",
    "It rains. " * 12,
    "The licence permits copies of it.",
]

# --8<-- [start:enable]
tokenizer = AutoTokenizer.from_pretrained(checkpoint, padding_side="left")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
yes, no = (tokenizer(word)["input_ids"][0] for word in ("yes", "no"))


@torch.no_grad()
def score(question: str, documents: list[str]) -> torch.Tensor:
    """Return the probability of "yes", of "yes" and "no", for each document."""
    pairs = [f"{question}\n{each}\nRelevant? Answer: " for each in documents]
    inputs = tokenizer(pairs, padding=True, return_tensors="pt")
    logits = model(**inputs, logits_to_keep=1).logits[:, -1]
    return logits[:, [yes, no]].softmax(-1)[:, 0]


# --8<-- [end:enable]
scores = score(question, documents)
alone = torch.cat([score(question, [each]) for each in documents])
print(
    f"largest difference from the score alone: {(scores - alone).abs().max():.0e}"
)

# The proof: the score of a pair does not depend on its batch, and differs between documents.
assert yes != no
pair = f"{question}\n{documents[0]}\nRelevant? Answer: "
with torch.no_grad():
    last = model(**tokenizer(pair, return_tensors="pt")).logits[0, -1]
of_yes = last[yes].exp() / (last[yes].exp() + last[no].exp())
assert torch.allclose(scores[0], of_yes, atol=1e-6), "not the probability of yes"
assert torch.allclose(scores, alone, atol=1e-6), (scores - alone).abs().max().item()
assert not scores.requires_grad, "the pass saved activations"
assert scores.unique().numel() == len(documents), "all documents have one score"
assert bool(((scores > 0) & (scores < 1)).all())
# One pass without decoding: the LM head computes one position per pair.
shapes = []
model.lm_head.register_forward_hook(
    lambda m, i, out: shapes.append(tuple(out.shape))
)
score(question, documents)
assert shapes == [(3, 1, model.config.vocab_size)], shapes
