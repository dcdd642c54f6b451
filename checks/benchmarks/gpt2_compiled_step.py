# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""Training steps of GPT-2, as it is and with its blocks compiled: what the first one costs, and what later ones save.

The model keeps GPT-2's width, heads and 256 tokens. It has a third of its blocks, and a third of its vocabulary with
them. The blocks are compiled, not the whole model: they are alike, so one compilation serves all of them. What earlier
compilations left on the disk is not used, so that every run compiles from nothing. Dropout is 0.

With more than one step, a run takes them one after the other, and its time is that of a short training.
"""

from collections.abc import Callable

import torch
from torch._inductor import config as inductor
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("eager", "compiled")
TOKENS = 256
SCALE = 3
COMPILER = "inductor"


def prepare(arm: str, *, steps: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes so many training steps (forward, backward, AdamW) and returns the loss of the last one."""
    torch.manual_seed(seed)
    inductor.force_disable_caches = True
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    if arm == "compiled":
        for block in model.transformer.h:
            block.compile(backend=COMPILER)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randint(vocabulary, (1, TOKENS)).to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def run() -> float:
        for _ in range(steps - 1):
            step()
        return step()

    return run


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        take = prepare(name, steps=1, device=where)
        for count in range(3):
            start = perf_counter()
            loss = take()
            print(f"{name}, step {count}: {perf_counter() - start:.3f} s, loss {loss:.4f}")
