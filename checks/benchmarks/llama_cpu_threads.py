# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A Llama model reads a prompt on two cores of a CPU, with one, two or four threads.

Every arm binds the process to the same two cores. So two threads have a core each, and four threads share two cores,
as in a container whose quota PyTorch does not see. The model has the width of Llama 3.2 1B, one of its 16 layers and a
sixteenth of its vocabulary, in fp32. A prompt of one token is what decoding one sequence computes.

Threads change no operation. The step therefore ends with a sum over as many zeros as PyTorch has threads, so that the
record of its operations shows the number that PyTorch really uses.
"""

import os
from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = ("1 thread", "2 threads", "4 threads")
CORES = 2
SHAPE = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 8016,
}  # fmt: skip
SMALL = {
    "SHAPE": {
        "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 1,
        "num_hidden_layers": 2, "vocab_size": 512,
    }
}  # fmt: skip


def prepare(arm: str, *, tokens: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """Return a function that reads the prompt and returns the loss of the token after it.

    Raises:
        RuntimeError: the process may use only one core, so the arms would not differ.
    """
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        raise RuntimeError(f"this process may use {len(cores)} core; the arms need {CORES}")
    os.sched_setaffinity(0, cores)
    torch.set_num_threads(int(arm.split(maxsplit=1)[0]))
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, tie_word_embeddings=True, use_cache=False, attn_implementation="sdpa")
    model = LlamaForCausalLM(config).to(device).eval()
    prompt = torch.randint(SHAPE["vocab_size"], (1, tokens + 1)).to(device)

    @torch.inference_mode()
    def step() -> float:
        logits = model(input_ids=prompt[:, :-1], logits_to_keep=1).logits[:, -1]
        return cross_entropy(logits, prompt[:, -1]).item() + torch.zeros(torch.get_num_threads()).sum().item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for length in (1, 16, 128, 512):
        for name in ARMS:
            take = prepare(name, tokens=length)
            take()
            start = perf_counter()
            loss = take()
            print(f"{length} tokens, {name}: {perf_counter() - start:.4f} s, loss {loss:.4f}")
