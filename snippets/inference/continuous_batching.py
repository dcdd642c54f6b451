# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "max_requests_per_batch=4" = "max_requests_per_batch=1" }
# ///
"""Continuous batching: generate_batch() starts the next request when one ends, over a paged cache of a fixed size. In fp32, the tokens are those of single requests."""

from unittest.mock import patch

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    ContinuousBatchingConfig,
    GenerationConfig,
)
from transformers.generation.continuous_batching import PagedAttentionCache

checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
prompts = [tokenizer("word " * n)["input_ids"] for n in (3, 20, 5, 12, 7, 30)]

passes = []
model.lm_head.register_forward_hook(lambda *call: passes.append(1))

caches = []


def keep(*args, **settings):
    """Make the cache, and keep it for the proof."""
    caches.append(PagedAttentionCache(*args, **settings))
    return caches[-1]


where = "transformers.generation.continuous_batching.continuous_api"
patch(f"{where}.PagedAttentionCache", keep).start()

# --8<-- [start:enable]
outputs = model.generate_batch(
    inputs=prompts,
    generation_config=GenerationConfig(
        max_new_tokens=8, do_sample=False, eos_token_id=-1
    ),
    continuous_batching_config=ContinuousBatchingConfig(
        page_size=16,  # tokens per page of the cache
        num_blocks=64,  # pages; left out, the cache takes most of the free memory
        max_batch_tokens=64,
        max_requests_per_batch=4,
    ),
)
# --8<-- [end:enable]
steps = len(passes)
results = sorted(
    outputs.values(), key=lambda each: int(each.request_id.split("_")[-1])
)
tokens = sum(len(each.generated_tokens) for each in results)
print(f"{len(results)} requests, {tokens} tokens, {steps} forward passes")

# The proof: fewer passes than tokens, because a pass computes several requests, and the tokens of single requests.
assert len(results) == len(prompts)
assert tokens == 8 * len(prompts)
assert steps < tokens / 2, (steps, tokens)
assert steps >= tokens / 4, "more than four requests at a time"
(cache,) = caches
assert (cache.num_blocks, cache.max_batch_tokens) == (64, 64), vars(cache)
pages = {each.tokens_per_page for each in cache.cache_allocators.values()}
assert pages == {16}, pages
for ids, result in zip(prompts, results, strict=True):
    alone = model.generate(
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        max_new_tokens=8,
        do_sample=False,
        eos_token_id=-1,
        pad_token_id=0,
    )
    assert result.generated_tokens == alone[0, len(ids) :].tolist(), (
        result.request_id
    )
