# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "torchao>=0.18", "bitsandbytes>=0.50"]
# ///
"""A Llama model reads a prompt or decodes: number formats, attention kernels, and what a pass keeps.

The model has the width of Llama 3.2 1B, one of its 16 layers, and a sixteenth of its vocabulary. Each sequence has
`context` tokens in its KV cache. A step gives the model `tokens` further tokens of each sequence, in `passes` equal
parts, one after the other, and takes them out of the cache again: with one pass it reads a prompt, with one token a
pass it decodes. The tokens are drawn beforehand, so that all arms see the same.

The step runs without gradients, and computes the logits of the last position of each pass. Two arms differ in that:
they record gradients, or compute all logits. One arm divides each pass into parts of 128 tokens. All arms have the same
weights: those in bf16 and fp16 are rounded, and the quantized ones are made from the bf16 ones. The step returns the
mean loss of the last positions of its passes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from bitsandbytes.nn import Linear4bit, Params4bit
from torch.nn.functional import cross_entropy
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8WeightOnlyConfig, quantize_
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

ARMS = (
    "fp32", "bf16", "fp16", "int8, dynamic", "int8, weights only", "nf4", "bf16, eager attention", "bf16, all logits",
    "bf16, parts of 128 tokens", "bf16, with gradients", "autocast", "autocast without its cache",
)  # fmt: skip
SHAPE = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 8016,
}  # fmt: skip


def tokens(arm: str, *, sequences: int, context: int, tokens: int, passes: int) -> int:
    """The tokens of one step, the same in every arm."""
    del arm, context, passes
    return tokens * sequences


def build(arm: str, *, device: str) -> LlamaForCausalLM:
    """The model of an arm, with weights from the current seed."""
    attention = "eager" if "eager" in arm else "sdpa"
    config = LlamaConfig(
        **SHAPE, max_position_embeddings=131072, tie_word_embeddings=True, attn_implementation=attention
    )
    model = LlamaForCausalLM(config).to(device).eval()
    if arm == "fp32" or arm.startswith("autocast"):
        return model
    model.to(torch.float16 if arm == "fp16" else torch.bfloat16)
    if arm.startswith("int8"):
        quantize_(model.model, Int8DynamicActivationInt8WeightConfig() if "dynamic" in arm else Int8WeightOnlyConfig())
    elif arm == "nf4":
        use_nf4(model, device)
    return model


def use_nf4(model: LlamaForCausalLM, device: str) -> None:
    """Replace the linear modules of the layers by 4-bit ones, as transformers' BitsAndBytesConfig does."""
    for layer in model.model.layers:
        for parent in (layer.self_attn, layer.mlp):
            for name, linear in list(parent.named_children()):
                if isinstance(linear, torch.nn.Linear):
                    small = Linear4bit(
                        linear.in_features, linear.out_features, bias=False, compute_dtype=torch.bfloat16
                    )
                    small.weight = Params4bit(linear.weight.data, requires_grad=False, quant_type="nf4")
                    setattr(parent, name, small.to(device))


@contextmanager
def context_of(arm: str, device: str) -> Iterator[None]:
    """What surrounds a step of the arm: no gradients, and autocast if the arm has it."""
    casts = {"autocast": {"cache_enabled": True}, "autocast without its cache": {"cache_enabled": False}}.get(arm)
    with torch.set_grad_enabled("gradients" in arm):
        if casts is None:
            yield
        else:
            with torch.autocast(device, dtype=torch.bfloat16, **casts):
                yield


def prepare(
    arm: str, *, sequences: int, context: int, tokens: int, passes: int, device: str = "cpu", seed: int = 0
) -> Callable[[], float]:
    """A function that gives the model the tokens and returns the mean loss of each pass's last position."""
    torch.manual_seed(seed)
    model = build(arm, device=device)
    drawn = torch.Generator().manual_seed(seed)
    batch = torch.randint(SHAPE["vocab_size"], (sequences, context + tokens + 1), generator=drawn).to(device)
    cache = DynamicCache(config=model.config)
    if context:
        with torch.no_grad():
            model(input_ids=batch[:, :context], past_key_values=cache, logits_to_keep=1)
    part = tokens // passes
    size = 128 if "parts" in arm else part

    def step() -> float:
        kept = cache if context or passes > 1 else DynamicCache(config=model.config)
        losses = []
        with context_of(arm, device):
            for start in range(context, context + tokens, part):
                for few in batch[:, start : start + part].split(size, dim=1):
                    keep = 0 if "all logits" in arm else 1
                    logits = model(input_ids=few, past_key_values=kept, logits_to_keep=keep).logits
                losses.append(cross_entropy(logits[:, -1].float(), batch[:, start + part]))
        if kept is cache:
            cache.crop(-tokens)
        return torch.stack(losses).mean().item()

    return step


if __name__ == "__main__":
    from time import perf_counter

    where = "cuda" if torch.cuda.is_available() else "cpu"
    for title, point in (
        ("a prompt of 128 tokens", {"sequences": 1, "context": 0, "tokens": 128, "passes": 1}),
        ("4 tokens of 1 sequence", {"sequences": 1, "context": 32, "tokens": 4, "passes": 4}),
        ("4 tokens of 64 sequences", {"sequences": 64, "context": 32, "tokens": 4, "passes": 4}),
    ):
        print(f"{title}:")
        for name in ARMS:
            built = perf_counter()
            take = prepare(name, **point, device=where)
            take()
            start = perf_counter()
            loss = take()
            print(f"  {name}: {(perf_counter() - start) * 1e3:.0f} ms, loss {loss:.4f} (built {start - built:.1f} s)")
