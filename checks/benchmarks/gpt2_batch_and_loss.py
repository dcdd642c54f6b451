# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 in fp32: one batch or several small ones, and a loss over all logits or over chunks of them.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a third of its blocks, and a third of its
vocabulary with them, so that blocks and logits keep their shares of memory. A larger batch repeats the same sequence,
so that every batch has the same loss. Dropout is 0: above it, attention on a CPU takes another kernel.
"""

from collections.abc import Callable, Iterator

import torch
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = (
    "one batch",
    "accumulated, one sequence at a time",
    "one batch, chunked loss",
    "one batch, checkpointed",
    "one batch, checkpointed, chunked loss",
)
TOKENS = 256
SCALE = 3
CHUNK = 128  # tokens whose logits exist at the same time
IGNORED = -100


def tokens(_arm: str, *, batch_size: int) -> int:
    """The tokens of one optimizer step, however it is cut."""
    return TOKENS * batch_size


def chunked_loss(model: GPT2LMHeadModel, ids: torch.Tensor) -> torch.Tensor:
    """The mean loss over all tokens, with the logits of one chunk at a time; backward computes them once more."""
    hidden = model.transformer(input_ids=ids).last_hidden_state.flatten(0, 1)
    labels = pad(ids, (0, 1), value=IGNORED)[:, 1:].flatten()

    def summed(states: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return cross_entropy(model.lm_head(states), wanted, ignore_index=IGNORED, reduction="sum")

    chunks = zip(hidden.split(CHUNK), labels.split(CHUNK), strict=True)
    sums = [checkpoint(summed, *chunk, use_reentrant=False) for chunk in chunks]
    return torch.stack(sums).sum() / (labels != IGNORED).sum()


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    if "checkpointed" in arm:
        model.activation_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, foreach=True)  # the default on CUDA, not on a CPU
    one = torch.randint(vocabulary, (1, TOKENS))
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

    def losses() -> Iterator[torch.Tensor]:
        """The parts of the step's mean loss, each to be taken backward before the next one is computed."""
        if arm.startswith("accumulated"):
            for ids in batch.split(1):
                yield model(input_ids=ids, labels=ids).loss / batch_size
        elif "chunked" in arm:
            yield chunked_loss(model, batch)
        else:
            yield model(input_ids=batch, labels=batch).loss

    def step() -> float:
        total = 0.0
        for loss in losses():
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return total

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        take = prepare(name, batch_size=2, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=2) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
