# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of GPT-2 in fp32 with optimizers that keep, or need for a moment, more or less memory.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a third of its blocks, and a third of its
vocabulary with them, so that the embedding keeps its share of the parameters: it is the largest tensor, and what an
optimizer that works tensor by tensor needs for a moment. A larger batch repeats the same sequences. Dropout is 0.

Adafactor is that of transformers, with the arguments of the Trainer's ``optim="adafactor"``. The loss of a step is
computed before its update, so all arms have the same first loss. Their updates are not the same.
"""

from collections.abc import Callable

import torch
from transformers import Adafactor, GPT2Config, GPT2LMHeadModel

ARMS = (
    "AdamW, foreach",
    "AdamW, for-loop",
    "AdamW, fused",
    "SGD with momentum",
    "Adafactor",
    "AdamW in backward",
)
TOKENS = 256
SCALE = 3
RATE = 1e-5


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def update(arm: str, model: torch.nn.Module) -> Callable[[], None]:
    """What updates the weights after backward. Where backward itself does it, hooks are set, and this does nothing."""
    weights = list(model.parameters())
    if arm == "AdamW in backward":
        each = {weight: torch.optim.AdamW([weight], lr=RATE, fused=True) for weight in weights}

        def now(weight: torch.Tensor) -> None:
            each[weight].step()
            each[weight].zero_grad(set_to_none=True)

        for weight in weights:
            weight.register_post_accumulate_grad_hook(now)
        return lambda: None
    optimizer: torch.optim.Optimizer
    if arm == "AdamW, foreach":  # the default of PyTorch on CUDA, not on a CPU
        optimizer = torch.optim.AdamW(weights, lr=RATE, foreach=True)
    elif arm == "AdamW, for-loop":
        optimizer = torch.optim.AdamW(weights, lr=RATE, foreach=False, fused=False)
    elif arm == "AdamW, fused":
        optimizer = torch.optim.AdamW(weights, lr=RATE, fused=True)
    elif arm == "SGD with momentum":  # in its default form on CUDA
        optimizer = torch.optim.SGD(weights, lr=RATE, momentum=0.9, foreach=True)
    elif arm == "Adafactor":
        optimizer = Adafactor(weights, lr=RATE, scale_parameter=False, relative_step=False)
    else:
        raise ValueError(f"no arm is called {arm!r}")

    def after_backward() -> None:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return after_backward


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, update) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    after_backward = update(arm, model)
    one = torch.randint(vocabulary, (1, TOKENS))
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        after_backward()
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
