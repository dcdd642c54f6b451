# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 under bf16 autocast with its own vocabulary, 50,257, and with one that is a multiple of 64.

The whole model, sequences of 1,024 tokens. It is meant for a GPU. The words that fill the vocabulary up are never a
label, and they add their share to the softmax: the losses of random weights differ by less than a thousandth.
"""

from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("50,257 words", "50,304 words")
TOKENS = 1024
SHAPE = {"n_layer": 12, "n_head": 12, "n_embd": 768}
WORDS = 50_257


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def prepare(arm: str, *, batch_size: int, device: str = "cuda", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = {"50,257 words": WORDS, "50,304 words": -(-WORDS // 64) * 64}[arm]
    batch = torch.randint(WORDS, (batch_size, TOKENS)).to(device)
    config = GPT2Config(
        **SHAPE, vocab_size=WORDS, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    if vocabulary > WORDS:
        model.resize_token_embeddings(vocabulary, mean_resizing=False)  # the other rows stay what they are
    model = model.to(device).train()
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

    for name in ARMS:
        take = prepare(name, batch_size=16)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=16) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
