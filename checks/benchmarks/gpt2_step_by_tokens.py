# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on one sequence, long or short: autocast and attention kernels over the number of tokens.

The model keeps GPT-2's width and heads. It has a sixth of its blocks, and a sixth of its vocabulary with them, so that
blocks, logits and the optimizer keep their shares of the time. Dropout is 0: above it, attention on a CPU takes
another kernel.
"""

from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("fp32", "bf16 autocast", "fp32, eager attention")
SCALE = 6


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
        attn_implementation="eager" if "eager" in arm else "sdpa",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randint(vocabulary, (1, tokens)).to(device)

    def step() -> float:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=arm == "bf16 autocast"):
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
        take = prepare(name, tokens=256, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
