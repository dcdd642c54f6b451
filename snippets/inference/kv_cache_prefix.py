# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "copy.deepcopy(prefix_cache)" = "prefix_cache" }
# ///
"""Compute the cache of a shared prefix once, and give each request a copy of it: only the rest of the prompt is computed."""

import copy

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
computed = []
model.model.register_forward_pre_hook(
    lambda _, args, kwargs: (
        computed.append(kwargs["inputs_embeds"].shape[1])
        if kwargs.get("inputs_embeds") is not None
        else computed.append(kwargs["input_ids"].shape[1])
    ),
    with_kwargs=True,
)

# --8<-- [start:enable]
prefix = "You answer questions about GPUs in one short sentence." * 8
questions = [" What is a KV cache?", " What is a prefill?"]

prefix_ids = tokenizer(prefix, return_tensors="pt")
prefix_cache = DynamicCache(config=model.config)
with torch.no_grad():
    model(**prefix_ids, past_key_values=prefix_cache)

answers = []
for question in questions:
    inputs = tokenizer(prefix + question, return_tensors="pt")
    cache = copy.deepcopy(prefix_cache)  # generate() appends to it
    answers.append(
        model.generate(
            **inputs, past_key_values=cache, max_new_tokens=8, do_sample=False
        )
    )
# --8<-- [end:enable]
kept = prefix_ids["input_ids"].shape[1]
first = computed[1], computed[1 + 8]
print(
    f"the prefix has {kept} tokens; the prompts needed {first[0]} and {first[1]} more"
)

# The proof: the prefix was computed once, its cache is unchanged, and the answers are those without it.
assert prefix_cache.get_seq_length() == kept, prefix_cache.get_seq_length()
whole = [tokenizer(prefix + each)["input_ids"] for each in questions]
assert [ids[:kept] for ids in whole] == [prefix_ids["input_ids"][0].tolist()] * 2, (
    "the prefix must have the same tokens in front of the question"
)
assert computed[0] == kept, "the prefix was not computed as a whole"
assert first == tuple(len(ids) - kept for ids in whole), (first, computed)
for question, answer in zip(questions, answers, strict=True):
    alone = tokenizer(prefix + question, return_tensors="pt")
    usual = model.generate(**alone, max_new_tokens=8, do_sample=False)
    assert torch.equal(answer, usual), (
        "other tokens than without the prefix's cache"
    )
