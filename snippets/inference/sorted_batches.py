# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "order = sorted(range(len(texts)), key=lambda at: len(texts[at]))" = "order = list(range(len(texts)))" }
# ///
"""Batches of texts sorted by length have little padding. The results come back in the order of the texts."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
tokenizer = AutoTokenizer.from_pretrained("HuggingFaceTB/SmolLM2-135M")
tokenizer.pad_token = tokenizer.eos_token
lengths = torch.randint(1, 41, (32,), generator=torch.Generator().manual_seed(0))
# In alphabetical order, they are not sorted by length.
first = ["zebra ", "few ", "many ", "a "]
texts = [
    first[at % 4] + "a few words " * length
    for at, length in enumerate(lengths.tolist())
]
given = [0]


def score(batch: list[str]) -> list[float]:
    """Return the mean loss of each text."""
    inputs = tokenizer(
        batch, return_tensors="pt", padding=True, padding_side="right"
    )
    given[-1] += inputs["input_ids"].numel()
    labels = inputs["input_ids"][:, 1:].masked_fill(
        inputs["attention_mask"][:, 1:] == 0, -100
    )
    with torch.inference_mode():
        logits = model(**inputs).logits[:, :-1]
    losses = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), labels, reduction="none"
    )
    return (losses.sum(1) / (labels != -100).sum(1)).tolist()


# --8<-- [start:enable]
order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
scores = [0.0] * len(texts)
for start in range(0, len(order), 8):
    chosen = order[start : start + 8]
    for at, found in zip(chosen, score([texts[at] for at in chosen]), strict=True):
        scores[at] = found
# --8<-- [end:enable]

given.append(0)
expected = [
    found for at in range(0, len(texts), 8) for found in score(texts[at : at + 8])
]
sorted_tokens, as_they_come = given
real = sum(len(tokenizer(text)["input_ids"]) for text in texts)
print(
    f"{real} tokens; with padding {as_they_come} as they come, {sorted_tokens} sorted"
)
assert torch.allclose(torch.tensor(scores), torch.tensor(expected), rtol=1e-4)
assert len({round(each, 3) for each in scores}) > 4  # the order shows in the scores
assert real <= sorted_tokens < 1.25 * real < as_they_come, given
