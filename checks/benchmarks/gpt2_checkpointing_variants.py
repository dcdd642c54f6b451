# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 in fp32 that keeps all activations, or recomputes all or a part of them.

What is recomputed is every block, every second block, or of every block all but the outputs of its matrix products and
of its attention.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a third of its blocks, and a third of its
vocabulary with them, so that blocks and logits keep their shares of time and memory. A larger batch repeats the same
sequences, so that every batch has the same loss. Dropout is 0: above it, attention on a CPU takes another kernel.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = (
    "none",
    "every block",
    "every second block",
    "selective: products kept",
)
TOKENS = 256
SCALE = 3
PRODUCTS = ("aten::mm", "aten::addmm", "aten::_scaled_dot_product")


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def keep_products(context: Any, operation: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> CheckpointPolicy:
    """Keep what a linear layer or the attention returns, and compute everything else once more."""
    del context, args, kwargs
    kept = operation.name().startswith(PRODUCTS)
    return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE


def checkpointed(arm: str, model: GPT2LMHeadModel) -> None:
    """Turn on what the arm is called."""
    if arm == "every block":
        model.activation_checkpointing_enable()
    elif arm == "every second block":
        model.activation_checkpointing_enable(every_n_layers=2)
    elif arm == "selective: products kept":
        contexts = partial(create_selective_checkpoint_contexts, keep_products)
        model.activation_checkpointing_enable({"use_reentrant": False, "context_fn": contexts})
    elif arm != "none":
        raise ValueError(f"no arm is called {arm!r}")


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    checkpointed(arm, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, foreach=True)  # the default on CUDA, not on a CPU
    one = torch.randint(vocabulary, (1, TOKENS))
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

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
        print(f"{name}: {tokens(name, batch_size=1) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
