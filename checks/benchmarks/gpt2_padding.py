# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 in fp32 on 8 sequences of unequal length: padded to the longest, or put end to end.

The model keeps GPT-2's width and heads. It has a sixth of its blocks, and a sixth of its vocabulary with them, so that
blocks and logits keep their shares of memory. The longest sequence has 128 tokens, and the other seven are as long as
each other, so that ``share`` of the padded batch is padding. Dropout is 0.

Padding-free, the tokens are one row, and their positions start again with each sequence. transformers makes a mask from
these positions, so that no token sees another sequence. Both arms have the same labels, and so the same loss.
"""

from collections.abc import Callable

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import DataCollatorWithFlattening, GPT2Config, GPT2LMHeadModel

ARMS = ("padded", "padding-free")
SEQUENCES = 8
TOKENS = 128
SCALE = 6
IGNORED = -100


def lengths(share: float) -> list[int]:
    """One sequence of all tokens, and the rest as equal as can be, so that ``share`` of the rectangle is empty."""
    left, others = round(SEQUENCES * TOKENS * (1 - share)) - TOKENS, SEQUENCES - 1
    return [TOKENS] + [left // others + (i < left % others) for i in range(others)]


def tokens(arm: str, *, share: float) -> int:
    """The tokens of one step that are no padding, the same in every arm."""
    del arm
    return sum(lengths(share))


def batch_of(arm: str, sequences: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """What a data loader would hand to the model."""
    if arm == "padding-free":
        collate = DataCollatorWithFlattening()
        batch: dict[str, torch.Tensor] = collate([{"input_ids": sequence.tolist()} for sequence in sequences])
        return batch
    if arm != "padded":
        raise ValueError(f"no arm is called {arm!r}")
    ones = [torch.ones_like(sequence) for sequence in sequences]
    return {
        "input_ids": pad_sequence(sequences, batch_first=True),
        "attention_mask": pad_sequence(ones, batch_first=True),
        "labels": pad_sequence(sequences, batch_first=True, padding_value=IGNORED),
    }


def prepare(arm: str, *, share: float, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, foreach=True)  # the default on CUDA, not on a CPU
    sequences = [torch.randint(vocabulary, (length,)) for length in lengths(share)]
    batch = {name: tensor.to(device) for name, tensor in batch_of(arm, sequences).items()}

    def step() -> float:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for name in ARMS:
        take = prepare(name, share=0.5, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, share=0.5) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
