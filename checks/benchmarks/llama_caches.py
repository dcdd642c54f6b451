# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A Llama model continues sequences with a dynamic cache, with a static one, and without a cache.

The model has the width of Llama 3.2 1B, one of its 16 layers, and a sixteenth of its vocabulary, in bf16. Each sequence
has `context` tokens. A step gives the model `tokens` further tokens of each sequence, one after the other. Without a
cache, the model reads the whole sequence again for each of them. "All at once" reads the further tokens in one pass
after the cached context, and "from the start" reads context and tokens in one pass: a prompt whose beginning is cached,
and one that is not.

A cache is filled by reading the context in parts of 512 tokens, outside of the step. The static cache has room for
`context` and `tokens`, and nothing more. After each step, the arms with a cache take the new tokens out again. The step
returns the loss of the last position.
"""

from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy
from transformers import Cache, DynamicCache, LlamaConfig, LlamaForCausalLM, StaticCache

ARMS = ("dynamic cache", "static cache", "no cache", "all at once", "from the start")
SHAPE = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 8016,
}  # fmt: skip


def tokens(arm: str, *, sequences: int, context: int, tokens: int) -> int:
    """The new tokens of one step, the same in every arm."""
    del arm, context
    return tokens * sequences


def take_out(cache: Cache, count: int) -> None:
    """Take the last tokens out of a cache."""
    if isinstance(cache, StaticCache):
        for layer in cache.layers:
            layer.cumulative_length.sub_(count)
    else:
        cache.crop(-count)


def prepare(
    arm: str, *, sequences: int, context: int, tokens: int, device: str = "cpu", seed: int = 0
) -> Callable[[], float]:
    """A function that gives the model the new tokens and returns the loss of the last position."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, max_position_embeddings=131072, tie_word_embeddings=True)
    model = LlamaForCausalLM(config).to(device, torch.bfloat16).eval()
    drawn = torch.Generator().manual_seed(seed)
    end = context + tokens
    batch = torch.randint(SHAPE["vocab_size"], (sequences, end + 1), generator=drawn).to(device)
    cache: Cache | None = None
    if arm in ("dynamic cache", "static cache", "all at once"):
        cache = StaticCache(config, max_cache_len=end) if arm == "static cache" else DynamicCache(config=config)
        with torch.inference_mode():
            for part in batch[:, :context].split(512, dim=1):
                model(input_ids=part, past_key_values=cache, logits_to_keep=1)
    reads = {
        "no cache": [(0, at + 1) for at in range(context, end)],
        "all at once": [(context, end)],
        "from the start": [(0, end)],
    }.get(arm, [(at, at + 1) for at in range(context, end)])

    @torch.inference_mode()
    def step() -> float:
        for start, stop in reads:
            logits = model(
                input_ids=batch[:, start:stop],
                past_key_values=cache,
                use_cache=cache is not None,
                logits_to_keep=1,
            ).logits
        if cache is not None:
            take_out(cache, tokens)
        return cross_entropy(logits[:, -1].float(), batch[:, end]).item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for length in (32, 1024):
        print(f"4 tokens after {length}:")
        for name in ARMS:
            take = prepare(name, sequences=1, context=length, tokens=4, device=where)
            take()
            start = perf_counter()
            loss = take()
            print(f"  {name}: {(perf_counter() - start) * 1e3:.0f} ms, loss {loss:.4f}")
