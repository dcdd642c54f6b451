# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 with fp32 weights, with autocast over them, and with bf16 weights, gradients and states.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a third of its blocks, and a third of its
vocabulary with them, so that blocks, logits and embedding keep their shares. A larger batch repeats the same sequences,
so that every batch has the same loss. Dropout is 0. The optimizer is the fused AdamW, which needs nothing beside its
states, so that the bytes of an arm are those of its number formats.

bf16 weights are the fp32 ones, rounded. So the first losses of the arms differ by rounding, and by nothing else: the
model computes its loss from logits in fp32 in every arm.
"""

from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("fp32", "bf16 autocast", "bf16 weights")
TOKENS = 256
SCALE = 3


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    if arm == "bf16 weights":
        model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    one = torch.randint(vocabulary, (1, TOKENS))
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

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
        take = prepare(name, batch_size=1, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=1) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
