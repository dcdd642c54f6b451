# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on a CPU: number formats, attention, loss, optimizer and batch, over sequence lengths.

The model has GPT-2's hidden size and heads, a sixth of its layers and a sixth of its vocabulary, so that layers, LM
head and optimizer keep their shares of the time. Dropout is 0, because attention on a CPU takes another kernel above
it. A larger batch repeats one sequence, so that every batch has the same loss.

The first arm is the baseline of a reader who changes nothing: fp32, SDPA, the logits of all tokens at once, the fused
AdamW (the default of the Trainer). Each other arm changes one of these. The loop over the parameters is the default of
``torch.optim.AdamW`` on a CPU.
"""

from collections.abc import Callable, Iterator

import torch
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = (
    "fp32",
    "bf16 autocast",
    "bf16 weights",
    "eager attention",
    "chunked loss",
    "AdamW, foreach",
    "AdamW, for-loop",
    "accumulated, one sequence at a time",
    "4 times the batch",
)
SCALE = 6
CHUNK = 128  # tokens whose logits exist at the same time
IGNORED = -100
SMALL = {"SCALE": 12, "CHUNK": 7}


def tokens(arm: str, *, tokens: int, batch_size: int) -> int:
    """Return the tokens of one optimizer step."""
    return tokens * batch_size * (4 if arm == "4 times the batch" else 1)


def chunked_loss(model: GPT2LMHeadModel, ids: torch.Tensor) -> torch.Tensor:
    """Return the mean loss over all tokens, with the logits of one chunk at a time; backward computes them again."""
    hidden = model.transformer(input_ids=ids).last_hidden_state.flatten(0, 1)
    labels = pad(ids, (0, 1), value=IGNORED)[:, 1:].flatten()

    def summed(states: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return cross_entropy(model.lm_head(states), wanted, ignore_index=IGNORED, reduction="sum")

    chunks = zip(hidden.split(CHUNK), labels.split(CHUNK), strict=True)
    sums = [checkpoint(summed, *chunk, use_reentrant=False) for chunk in chunks]
    return torch.stack(sums).sum() / (labels != IGNORED).sum()


def optimizer_of(arm: str, model: torch.nn.Module) -> torch.optim.Optimizer:
    """Return AdamW in the form of the arm."""
    form = {"AdamW, foreach": {"foreach": True}, "AdamW, for-loop": {"foreach": False, "fused": False}}
    return torch.optim.AdamW(model.parameters(), lr=1e-5, **form.get(arm, {"fused": True}))


def prepare(arm: str, *, tokens: int, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
        attn_implementation="eager" if "eager" in arm else "sdpa",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    if arm == "bf16 weights":
        model.to(torch.bfloat16)
    optimizer = optimizer_of(arm, model)
    sequences = batch_size * (4 if arm == "4 times the batch" else 1)
    batch = torch.randint(vocabulary, (1, tokens)).expand(sequences, tokens).contiguous().to(device)
    parts = batch.split(1) if arm.startswith("accumulated") else (batch,)

    def losses() -> Iterator[torch.Tensor]:
        """Yield the parts of the step's mean loss; each goes backward before the next one is computed."""
        for ids in parts:
            with torch.autocast(device, dtype=torch.bfloat16, enabled=arm == "bf16 autocast"):
                loss = chunked_loss(model, ids) if "chunked" in arm else model(input_ids=ids, labels=ids).loss
            yield loss / len(parts)

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
        take = prepare(name, tokens=256, batch_size=1, device=where)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
