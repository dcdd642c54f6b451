# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 on a CPU, with glibc's allocator as it is, and with freed memory that stays in the process.

As it is, glibc maps a large block when PyTorch allocates it and returns it to the kernel when PyTorch frees it, so each
step writes to pages that the kernel has to clear first. The other arm sets what ``MALLOC_MMAP_MAX_=0`` and
``MALLOC_TRIM_THRESHOLD_`` set in the environment: no block is mapped alone, and nothing is returned.

The model has GPT-2's hidden size and heads, a sixth of its layers and vocabulary, in fp32 with dropout 0.
An allocator changes no operation. The step therefore ends with a sum over one zero, or over two if freed memory really
stays, so that the record of its operations shows it.
"""

import ctypes
import resource
from collections.abc import Callable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

ARMS = ("glibc as it is", "glibc, freed memory kept")
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
SCALE = 6
FEW = 10
WARM = 6  # steps until the heap has its size; with kept memory, the first ones still enlarge it
PROBE = 64 * 2**20 // 4  # fp32 numbers of 64 MiB, more than glibc ever keeps by itself
SMALL = {"SCALE": 12, "WARM": 1}


def keep_freed_memory() -> None:
    """Tell glibc to map no block alone and to return nothing.

    Raises:
        RuntimeError: the allocator of this process is not glibc's, or refuses.
    """
    libc = ctypes.CDLL(None)
    if not (libc.mallopt(M_MMAP_MAX, 0) and libc.mallopt(M_TRIM_THRESHOLD, -1)):
        raise RuntimeError("mallopt refused; this benchmark needs glibc's allocator")


def memory_stays() -> bool:
    """Return whether a large block that is freed and allocated again brings its pages with it."""
    torch.ones(PROBE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(PROBE)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < FEW


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that takes one training step (forward, backward, AdamW) and returns its loss."""
    if arm == "glibc, freed memory kept":
        keep_freed_memory()
    mark = 2 if memory_stays() else 1
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
        return loss.item() + torch.zeros(mark).sum().item()

    for _ in range(WARM):
        step()
    return step


if __name__ == "__main__":
    from time import perf_counter

    for name in ARMS:  # glibc cannot be set back, so the order matters
        take = prepare(name, tokens=256)
        take()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        start = perf_counter()
        loss = take()
        seconds = perf_counter() - start
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        print(f"{name}: {seconds:.3f} s a step, {faults} page faults, loss {loss:.4f}")
