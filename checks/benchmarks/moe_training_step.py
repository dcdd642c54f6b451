# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
# ///
"""A training step of a mixture of 8 experts, and of the dense model that has as many parameters a token, in fp32.

Both are made from the same smaller dense model, so that both compute the function that it computes. In the mixture,
every expert is a copy of its MLP, and a token's two experts get weights that sum to 1. In the dense model, the MLP is
twice as wide: the copy stands in it twice, and counts half each time. So a token meets as many parameters in both, and
their first losses are the same. How much memory a step needs depends on the shapes, not on what is in the weights.

The shape is that of Mixtral 8x7B at 768 instead of 4,096 wide: four queries a key, an MLP three and a half times as
wide, 2 of 8 experts a token. It has 1 of 32 blocks, and a 32nd of the vocabulary with them. A larger batch repeats
the same sequences. Dropout is 0, and no router loss is added.
"""

from collections.abc import Callable

import torch
from transformers import MixtralConfig, MixtralForCausalLM

ARMS = ("dense, as many parameters a token", "mixture of experts", "mixture of experts, eager")
TOKENS = 256
SHAPE = {
    "hidden_size": 768,
    "intermediate_size": 2688,
    "num_hidden_layers": 1,
    "num_attention_heads": 12,
    "num_key_value_heads": 3,
    "vocab_size": 32_000 // 32,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}


def tokens(arm: str, *, batch_size: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm
    return TOKENS * batch_size


class Mlp(torch.nn.Module):
    """A dense gated MLP, as wide as the experts of one token together."""

    def __init__(self, gate_up: torch.Tensor, down: torch.Tensor, copies: int) -> None:
        """Hold an expert's function ``copies`` times side by side, each with its share."""
        super().__init__()
        rows, width = gate_up.shape
        gate, up = gate_up.chunk(2)
        self.gate_up = torch.nn.Linear(width, copies * rows, bias=False)
        self.down = torch.nn.Linear(copies * rows // 2, width, bias=False)
        self.gate_up.weight.data = torch.cat([gate] * copies + [up] * copies)
        self.down.weight.data = torch.cat([down] * copies, dim=1) / copies

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """What the experts compute of every token, here without a choice."""
        gate, up = self.gate_up(hidden).chunk(2, dim=-1)
        output: torch.Tensor = self.down(torch.nn.functional.silu(gate) * up)
        return output


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one training step (forward, backward, AdamW) and returns its loss."""
    torch.manual_seed(seed)
    implementation = "eager" if arm.endswith("eager") else "grouped_mm"
    config = MixtralConfig(**SHAPE, use_cache=False, loss_type="ForCausalLM", experts_implementation=implementation)
    model = MixtralForCausalLM(config)
    one = torch.randint(config.vocab_size, (1, TOKENS))
    for block in model.model.layers:
        gate_up, down = block.mlp.experts.gate_up_proj.data, block.mlp.experts.down_proj.data
        if arm.startswith("dense"):
            block.mlp = Mlp(gate_up[0], down[0], config.num_experts_per_tok)
        else:
            gate_up.copy_(gate_up[:1].clone().expand_as(gate_up))
            down.copy_(down[:1].clone().expand_as(down))
    model = model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    batch = one.expand(batch_size, TOKENS).contiguous().to(device)

    def step() -> float:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
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
