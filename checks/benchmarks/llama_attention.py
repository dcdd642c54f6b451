# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step under bf16 autocast of a Llama 4,096 wide, with attention by SDPA and written out.

The shape is that of Llama 3.1 8B with 2 of its 32 blocks, and a vocabulary that shrinks with them. A step is one
sequence without padding, so that SDPA gets no mask and can take its flash kernel. It is meant for a GPU. Random weights
and tokens: a product of zeros draws less power than a real one.
"""

from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = ("SDPA", "eager")
SHAPE = {
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 2,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 8016,
}


def prepare(arm: str, *, tokens: int, device: str = "cuda", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    attention = {"SDPA": "sdpa", "eager": "eager"}[arm]
    config = LlamaConfig(
        **SHAPE, use_cache=False, loss_type="ForCausalLM", max_position_embeddings=tokens, attn_implementation=attention
    )
    with torch.device(device):
        model = LlamaForCausalLM(config).train()
        batch = torch.randint(config.vocab_size, (1, tokens))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step() -> float:
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for length in (512, 2048, 4096):
        for name in ARMS:
            take = prepare(name, tokens=length)
            take()
            start = perf_counter()
            loss = take()
            print(f"{name}, {length} tokens: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
