# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 under two names: what a harness finds between them is the harness's own doing.

The model keeps GPT-2's width and heads. It has a twelfth of its blocks and of its vocabulary, and sees 64 tokens, so
that a session takes a quarter of a minute and sixty of them a quarter of an hour.
"""

from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("a step", "the same step")
TOKENS = 64
SCALE = 12


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    del arm
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randint(vocabulary, (batch_size, TOKENS)).to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        take = prepare(name, batch_size=1, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
