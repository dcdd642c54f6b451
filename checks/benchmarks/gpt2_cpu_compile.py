# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on a CPU, as it is and with its layers compiled, over the tokens of one sequence.

The model has GPT-2's hidden size and heads, a sixth of its layers and vocabulary, in fp32 with dropout 0.
The layers are compiled, not the whole model: they are alike, so one compilation serves all of them. The first step
compiles, and its time does not count.
"""

from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("eager", "compiled")
SCALE = 6
COMPILER = "inductor"
SMALL = {"SCALE": 12, "COMPILER": "eager"}


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    if arm == "compiled":
        for layer in model.transformer.h:
            layer.compile(backend=COMPILER)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randint(vocabulary, (1, tokens)).to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for name in ARMS:
        take = prepare(name, tokens=256)
        for count in range(3):
            start = perf_counter()
            loss = take()
            print(f"{name}, step {count}: {perf_counter() - start:.3f} s, loss {loss:.4f}")
