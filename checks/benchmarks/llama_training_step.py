# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21", "bitsandbytes>=0.50", "torchao>=0.18"]
# ///
"""A training step of a Llama of 1.2 billion parameters on one GPU, with one thing or two changed in each arm.

The shape is that of Llama 3.2 1B: width 2,048, grouped queries, a vocabulary of 128,256; 2,048 tokens a sequence. It is
meant for a GPU, where a narrower model would measure launches. A larger batch repeats the same sequence, so that every
batch has the same loss. Weights are random, and so are the tokens: a product of zeros draws less power than a real one.

An arm is a format of numbers and, after commas, what else is done. Where no optimizer is named it is AdamW in the form
that PyTorch takes on a GPU by itself, ``foreach``. Compiled means block by block: a model that is compiled as a whole
cannot look whether a mask is needed, makes one, and loses the flash kernel, so that two things would differ.

The formats ``fp32`` and ``tf32`` are of the products, with weights in fp32; so is ``bf16 autocast``. With
``bf16 weights`` there is nothing but bf16. ``fp8`` is that of the products in the blocks, made from fp32 weights under
bf16 autocast.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint
from transformers import LlamaConfig, LlamaForCausalLM

ARMS = (
    "fp32",
    "tf32",
    "bf16 weights",
    "bf16 autocast",
    "bf16 autocast, checkpointed",
    "bf16 autocast, checkpointed, 4 times the batch",
    "bf16 autocast, every second block checkpointed",
    "bf16 autocast, checkpointed, offloaded",
    "bf16 autocast, compiled",
    "bf16 autocast, checkpointed, compiled",
    "fp8, compiled",
    "bf16 autocast, fused AdamW",
    "bf16 autocast, 8-bit AdamW",
    "bf16 autocast, chunked loss",
    "bf16 autocast, checkpointed, chunked loss",
    "bf16 autocast, one sequence at a time",
    "bf16 autocast, one sequence fewer",
    "bf16 autocast, LoRA",
)
TOKENS = 2048
CHUNK = 1024
IGNORED = -100  # the label that cross_entropy leaves out
COMPILER = "inductor"
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
    if "4 times the batch" in arm:
        return 4 * batch_size
    return batch_size - 1 if "one sequence fewer" in arm else batch_size


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step of this arm."""
    return TOKENS * sequences(arm, batch_size)


def adapted(arm: str, model: Any, device: str) -> Any:
    """The model with what the arm changes in it."""
    if "every second block" in arm:
        model.activation_checkpointing_enable(every_n_layers=2)
    elif "checkpointed" in arm:
        # Pinned memory, which offloading asks for, is there only where a GPU is.
        model.activation_checkpointing_enable(offload="offloaded" in arm and device != "cpu")
    if "LoRA" in arm:
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415 - only this arm needs it

        return get_peft_model(model, LoraConfig(r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear"))
    if "fp8" in arm:
        from torchao.float8 import Float8LinearConfig, convert_to_float8_training  # noqa: PLC0415 - as above

        config = Float8LinearConfig(emulate=device == "cpu")
        convert_to_float8_training(model.model, config=config)  # the head stays as it is
    if "compiled" in arm:
        for block in model.model.layers:
            block.compile(backend=COMPILER)
    return model


def optimizer_of(arm: str, model: Any) -> torch.optim.Optimizer:
    """What updates the weights that are trained."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if "8-bit AdamW" in arm:
        from bitsandbytes.optim import AdamW8bit  # noqa: PLC0415 - as above

        found: torch.optim.Optimizer = AdamW8bit(weights, lr=1e-5)
        return found
    if "fused AdamW" in arm:
        return torch.optim.AdamW(weights, lr=1e-5, fused=True)
    return torch.optim.AdamW(weights, lr=1e-5, foreach=True)


def chunked_loss(model: Any, inputs: torch.Tensor) -> torch.Tensor:
    """The loss over the shifted labels, its logits computed in chunks and once more in backward."""
    hidden = model.model(input_ids=inputs).last_hidden_state.flatten(0, 1)
    labels = pad(inputs, (0, 1), value=IGNORED)[:, 1:].flatten()

    def summed(states: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return cross_entropy(model.lm_head(states).float(), wanted, reduction="sum")

    parts = zip(hidden.split(CHUNK), labels.split(CHUNK), strict=True)
    sums = [checkpoint(summed, *part, use_reentrant=False) for part in parts]
    return torch.stack(sums).sum() / (labels != IGNORED).sum()


def prepare(arm: str, *, batch_size: int, device: str = "cuda", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, update) and returns its loss."""
    if arm not in ARMS:
        raise ValueError(f"no arm is called {arm!r}")
    torch.set_float32_matmul_precision("high" if arm == "tf32" else "highest")
    torch.manual_seed(seed)
    config = LlamaConfig(**SHAPE, use_cache=False, loss_type="ForCausalLM")
    with torch.device(device):  # 1.2 billion random numbers take a GPU no time, and a CPU a quarter of a minute
        model = LlamaForCausalLM(config).train()
        one = torch.randint(config.vocab_size, (1, TOKENS))
    if arm == "bf16 weights":
        model = model.to(torch.bfloat16)
    model = adapted(arm, model, device)
    optimizer = optimizer_of(arm, model)
    batch = one.expand(sequences(arm, batch_size), TOKENS).contiguous()
    parts = batch.split(1) if "one sequence at a time" in arm else [batch]

    def step() -> float:
        total = 0.0
        for part in parts:
            with torch.autocast(device, dtype=torch.bfloat16, enabled=arm.startswith(("bf16 autocast", "fp8"))):
                whole = "chunked loss" not in arm
                loss = model(input_ids=part, labels=part).loss if whole else chunked_loss(model, part)
            (loss / len(parts)).backward()
            total += loss.item() / len(parts)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return total

    return step


if __name__ == "__main__":
    from time import perf_counter

    for name in ARMS:
        take = prepare(name, batch_size=4)
        take()
        start = perf_counter()
        loss = take()
        print(f"{name}: {tokens(name, batch_size=4) / (perf_counter() - start):,.0f} tokens/s, loss {loss:.4f}")
        del take
        torch.cuda.empty_cache()
