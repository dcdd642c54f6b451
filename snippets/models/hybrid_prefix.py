# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["tiiuae/Falcon-H1-0.5B-Instruct", "HuggingFaceTB/SmolLM2-135M"]
# ablation = { "state = copy.deepcopy(shared)" = "state = shared" }
# ///
"""Prefix reuse with a hybrid model: copy the cache at the end of the prefix. A state cannot be cut back to it afterwards, as keys and values can."""

import copy

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

checkpoint = "tiiuae/Falcon-H1-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).eval()
prefix = tokenizer("Answer in one sentence. " * 8, return_tensors="pt").input_ids
questions = [
    tokenizer(text, return_tensors="pt").input_ids
    for text in ("What is a kernel?", "What is a state-space model, and why?")
]

# --8<-- [start:enable]
with torch.no_grad():
    shared = model(
        prefix, use_cache=True
    ).past_key_values  # once, for all questions


@torch.no_grad()
def next_logits(question):
    state = copy.deepcopy(shared)  # the state after the prefix, and nothing else
    return model(question, past_key_values=state).logits[:, -1]


# --8<-- [end:enable]
with torch.no_grad():
    wanted = [
        model(torch.cat([prefix, question], dim=1)).logits[:, -1]
        for question in questions
    ]
found = [next_logits(question) for question in questions]
off = max((a - b).abs().max().item() for a, b in zip(found, wanted, strict=True))
print(f"after the shared prefix: {off:.0e} from the whole prompt")

assert not any(each.requires_grad for each in found), "activations were saved"

# Controls: the questions have different answers, and the prefix matters.
assert (wanted[0] - wanted[1]).abs().max() > 1e-2
with torch.no_grad():
    without = model(questions[0]).logits[:, -1]
assert (without - wanted[0]).abs().max() > 1e-3

# A cache of keys and values can be cut back; one with states cannot.
attention = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M")
with torch.no_grad():
    keys = attention(prefix % attention.config.vocab_size).past_key_values
    cache = model(prefix).past_key_values
keys.crop(-8)
assert keys.get_seq_length() == prefix.shape[1] - 8
try:
    cache.crop(-8)
    cut = True
except RuntimeError as error:
    cut = False
    print(f"crop: {error}")
assert not cut, "a state can be cut back by now"
assert off < 1e-4, f"{off:.1e}"
