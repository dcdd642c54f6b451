# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch>=2.11", "transformers>=5.23,<6", "bitsandbytes>=0.50", "schedulefree>=1.4", "galore-torch>=1.0",
#     "apollo-torch>=1.0",
# ]
# ///
"""A training step of GPT-2 in fp32 with optimizers whose states are stored in 8 bits, in a low rank, or are only one.

The model keeps GPT-2's width, heads and 256 tokens a sequence. It has a sixth of its blocks, and a sixth of its
vocabulary with them, so that the embedding, which some of these optimizers treat differently, keeps its share of the
parameters. A larger batch repeats the same sequences. Dropout is 0.

With 4 sequences, every arm has its peak when backward starts, while no optimizer is at work. What differs there is the
states alone, and they have the same size on every device. With 1, most have it in the update or at the end of backward;
what an update needs for a moment depends on its kernels, and bitsandbytes has others on a CPU than on a GPU.

GaLore and APOLLO work on the matrices of the blocks, with rank 128 and the other defaults of the Trainer. Muon works on
the same matrices; the fused AdamW takes the rest. "Embeddings in fp32" is what the Trainer does with 8-bit AdamW. The
loss of a step is computed before its update, so all arms have the same first loss. Their updates are not the same.
"""

import warnings
from collections.abc import Callable

import bitsandbytes as bnb
import torch
from apollo_torch import APOLLOAdamW
from galore_torch import GaLoreAdamW
from schedulefree import AdamWScheduleFree
from torch.optim import AdamW, Muon, Optimizer
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D

ARMS = (
    "AdamW, fused",
    "AdamW, 8-bit states",
    "AdamW, 8-bit states, embeddings in fp32",
    "Lion",
    "Lion, 8-bit state",
    "Muon",
    "Schedule-Free AdamW",
    "GaLore AdamW",
    "APOLLO AdamW",
)
TOKENS = 256
SCALE = 6
RATE = 1e-5
GALORE = {"rank": 128, "update_proj_gap": 200, "scale": 0.25, "proj_type": "std"}
APOLLO = {
    "rank": 128, "proj": "random", "scale_type": "channel", "update_proj_gap": 200, "scale": 1.0, "proj_type": "std",
}  # fmt: skip


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


def in_8_bits(weights: list[torch.nn.Parameter], model: torch.nn.Module, *, all_but_embeddings: bool) -> Optimizer:
    """8-bit AdamW. Without embeddings, it is set up as the Trainer does it."""
    manager = bnb.optim.GlobalOptimManager.get_instance()
    manager.initialize()  # it is one for the whole process, and would keep what another arm registered
    if all_but_embeddings:
        for module in model.modules():
            if isinstance(module, torch.nn.Embedding):
                manager.register_module_override(module, "weight", {"optim_bits": 32})
    return bnb.optim.AdamW(weights, lr=RATE, optim_bits=8)


def averaged(weights: list[torch.nn.Parameter]) -> Optimizer:
    """Schedule-Free AdamW, ready to train."""
    optimizer = AdamWScheduleFree(weights, lr=RATE)
    optimizer.train()
    return optimizer


def optimizers(arm: str, model: torch.nn.Module) -> list[Optimizer]:
    """The optimizers of all weights: one, or with Muon two."""
    weights = list(model.parameters())
    matrices = [module.weight for module in model.modules() if isinstance(module, Conv1D)]
    others = [weight for weight in weights if not any(weight is matrix for matrix in matrices)]
    made: dict[str, Callable[[], list[Optimizer]]] = {
        "AdamW, fused": lambda: [AdamW(weights, lr=RATE, fused=True)],
        "AdamW, 8-bit states": lambda: [in_8_bits(weights, model, all_but_embeddings=False)],
        "AdamW, 8-bit states, embeddings in fp32": lambda: [in_8_bits(weights, model, all_but_embeddings=True)],
        "Lion": lambda: [bnb.optim.Lion(weights, lr=RATE, optim_bits=32)],
        "Lion, 8-bit state": lambda: [bnb.optim.Lion(weights, lr=RATE, optim_bits=8)],
        "Muon": lambda: [Muon(matrices, lr=RATE), AdamW(others, lr=RATE, fused=True)],
        "Schedule-Free AdamW": lambda: [averaged(weights)],
        "GaLore AdamW": lambda: [GaLoreAdamW([{"params": others}, {"params": matrices, **GALORE}], lr=RATE)],
        "APOLLO AdamW": lambda: [APOLLOAdamW([{"params": others}, {"params": matrices, **APOLLO}], lr=RATE)],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # GaLore's copy of an old AdamW warns of itself
        return made[arm]()


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, update) and returns its loss."""
    torch.manual_seed(seed)
    vocabulary = 50257 // SCALE
    config = GPT2Config(
        n_layer=12 // SCALE, vocab_size=vocabulary, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, loss_type="ForCausalLM",
    )  # fmt: skip
    model = GPT2LMHeadModel(config).to(device).train()
    each = optimizers(arm, model)
    one = torch.randint(vocabulary, (1, TOKENS))
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        for optimizer in each:
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
