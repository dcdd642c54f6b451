# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on two cores of a CPU, with one, two or four threads.

Every arm binds the process to the same two cores. So two threads have a core each, and four threads share two cores,
as in a container whose quota PyTorch does not see. The model has GPT-2's hidden size and heads, a sixth of its layers
and a sixth of its vocabulary, in fp32 with dropout 0.

Threads change no operation. The step therefore ends with a sum over as many zeros as PyTorch has threads, so that the
record of its operations shows the number that PyTorch really uses.
"""

import os
from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("1 thread", "2 threads", "4 threads")
CORES = 2
SCALE = 6
SMALL = {"SCALE": 12}


def bind() -> None:
    """Bind this process to the first two cores that it may use.

    Raises:
        RuntimeError: the process may use only one core, so the arms would not differ.
    """
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        raise RuntimeError(f"this process may use {len(cores)} core; the arms need {CORES}")
    os.sched_setaffinity(0, cores)


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step (forward, backward, AdamW) and returns its loss."""
    bind()
    torch.set_num_threads(int(arm.split(maxsplit=1)[0]))
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randint(vocabulary, (1, tokens)).to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item() + torch.zeros(torch.get_num_threads()).sum().item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for name in ARMS:
        take = prepare(name, tokens=256)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {perf_counter() - start:.3f} s a step, loss {loss:.4f}")
