# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of a Llama of 1.2 billion parameters, with and without activation checkpointing, in fp32 and bf16.

The shape is that of Llama 3.2 1B: width 2,048, grouped queries, a vocabulary of 128,256; 2,048 tokens a sequence. It is
meant for a GPU, where a narrower model would measure launches. A larger batch repeats the same sequences, so that every
batch has the same loss. Weights are random, and so are the tokens: a product of zeros draws less power than a real one.
"""

from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = (
    "fp32",
    "bf16 autocast",
    "bf16 autocast, checkpointed",
    "bf16 autocast, checkpointed, 4 times the batch",
)
TOKENS = 2048
SHAPE = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "tie_word_embeddings": True,
}


def sequences(arm: str, batch_size: int) -> int:
    """The sequences of one step of this arm."""
    return 4 * batch_size if arm.endswith("4 times the batch") else batch_size


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step of this arm."""
    return TOKENS * sequences(arm, batch_size)


def prepare(arm: str, *, batch_size: int, device: str = "cuda", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, use_cache=False, loss_type="ForCausalLM")
    with torch.device(device):  # 1.2 billion random numbers take a GPU no time, and a CPU a quarter of a minute
        model = LlamaForCausalLM(config).train()
        one = torch.randint(config.vocab_size, (1, TOKENS))
    if "checkpointed" in arm:
        model.activation_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, foreach=True)
    batch = one.expand(sequences(arm, batch_size), TOKENS).contiguous()

    def step() -> float:
        with torch.autocast(device, dtype=torch.bfloat16, enabled="bf16 autocast" in arm):
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    for name in ARMS:
        take = prepare(name, batch_size=1)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=1) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
