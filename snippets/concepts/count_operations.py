# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 300
# ablation = { "return rms_norm(x, self.weight)" = "return eager_norm(self, x)" }
# ///
"""FLOPs and bytes of matmuls, normalizations and element-wise operations in Llama 3.1 8B, GPT-2 and Mixtral 8x7B."""

from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, register_flop_formula
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    GPT2Config,
    LlamaConfig,
    MixtralConfig,
    masking_utils,
)
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.mixtral.modeling_mixtral import MixtralRMSNorm

LLAMA = LlamaConfig(  # of meta-llama/Llama-3.1-8B
    hidden_size=4096,
    intermediate_size=14336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    vocab_size=128256,
)
GPT2 = GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
MIXTRAL = MixtralConfig(experts_implementation="grouped_mm")  # 8x7B by default
TOKENS = 1024
eager_norm = LlamaRMSNorm.forward
masking_utils.find_packed_sequence_indices = lambda *args, **kwargs: None


# --8<-- [start:count]
NORMALIZATIONS = ("norm", "softmax", "nll_loss")


class Operations(TorchDispatchMode):
    """FLOPs, and bytes read plus written, by kind of operation."""

    def __init__(self):
        super().__init__()
        self.flops, self.bytes = Counter(), Counter()

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        name, matmul = str(op), flop_registry.get(op.overloadpacket)
        if op.is_view or "view" in name or "empty" in name:
            return out  # no kernel runs
        tensors = [
            t
            for t in tree_leaves((args, kwargs, out))
            if isinstance(t, torch.Tensor)
        ]
        if matmul:
            kind, flops = "matmul", matmul(*args, **(kwargs or {}), out_val=out)
        else:
            kind = (
                "normalization"
                if any(each in name for each in NORMALIZATIONS)
                else "element-wise"
            )
            flops = max(t.numel() for t in tensors)  # one per element
        self.flops[kind] += flops
        self.bytes[kind] += moved(name, tensors)
        return out


# --8<-- [end:count]
def moved(name: str, tensors: list) -> int:
    """Bytes that a kernel reads and writes; a lookup reads only what it returns."""
    if "aten.embedding.default" in name:
        return tensors[1].nbytes + 2 * tensors[2].nbytes
    sizes = [t.nbytes for t in tensors]
    if (
        "grouped_mm" in name and tensors[1].dim() == 3
    ):  # experts without tokens are not read
        sizes[1] = int(sizes[1] * min(1, tensors[0].shape[0] / tensors[1].shape[0]))
    return sum(sizes)


@register_flop_formula(torch.ops.aten._grouped_mm)  # noqa: SLF001
def grouped(a, b, *_, **__) -> int:
    """FLOPs of the experts' matmuls: each row of ``a`` meets one expert."""
    return 2 * a[0] * a[1] * b[-1]


def attention(matmuls, first):
    """Return the FLOPs formula of attention, whose heads share keys and values."""

    def formula(*args, **_) -> int:
        query, key = args[first : first + 2]
        batch, heads, rows, dim = query.shape
        return 2 * matmuls * batch * heads * rows * key.shape[2] * dim

    return formula


FLASH = torch.ops.aten._scaled_dot_product_flash_attention  # noqa: SLF001
FLASH_BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_backward  # noqa: SLF001
flop_registry[FLASH] = attention(matmuls=2, first=0)
flop_registry[FLASH_BACKWARD] = attention(matmuls=5, first=1)


def flash(q, k, v, scale=None, **_):
    """The attention kernel that CUDA runs here; without data it needs no GPU."""
    return FLASH(q, k, v, is_causal=q.shape[2] > 1, scale=scale)[0]


@torch.library.custom_op("demo::rms_norm", mutates_args=())
def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """RMSNorm as one kernel."""
    return x * weight  # never runs: the tensors have no data


@torch.library.custom_op("demo::rms_norm_backward", mutates_args=())
def rms_norm_backward(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The backward pass of RMSNorm as one kernel."""
    return grad * x, torch.empty_like(weight)


rms_norm.register_fake(lambda x, weight: torch.empty_like(x))
rms_norm_backward.register_fake(
    lambda grad, x, weight: (torch.empty_like(x), torch.empty_like(weight))
)
rms_norm.register_autograd(
    lambda ctx, grad: rms_norm_backward(grad, *ctx.saved_tensors),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def fused_norm(self, x):
    """Normalize in one kernel, as Liger and torch.compile do."""
    return rms_norm(x, self.weight)


torch.nn.functional.scaled_dot_product_attention = flash


def passes(config) -> dict:
    """Count a forward and a backward pass of one sequence, and one decoded token."""
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        ids = torch.zeros(1, TOKENS, dtype=torch.long)
        found = {
            "forward": Operations(),
            "backward": Operations(),
            "decode": Operations(),
        }
        with found["forward"]:
            loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        with found["backward"]:
            loss.backward()
        with torch.no_grad():
            cache = DynamicCache(config=config)
            model(input_ids=ids, past_key_values=cache, logits_to_keep=1)
            with found["decode"]:
                model(input_ids=ids[:, :1], past_key_values=cache)
    return found


eager = passes(LLAMA)
LlamaRMSNorm.forward = MixtralRMSNorm.forward = fused_norm
counted = {
    "Llama 3.1 8B": passes(LLAMA),
    "GPT-2": passes(GPT2),
    "Mixtral 8x7B": passes(MIXTRAL),
}
counted["Llama 3.1 8B, eager RMSNorm"] = eager
KINDS = "matmul", "normalization", "element-wise"


def share(name: str, phase: str, kind: str) -> tuple:
    """Percent of the FLOPs, and of the bytes."""
    found = counted[name][phase]
    counts = found.flops, found.bytes
    return tuple(100 * each[kind] / each.total() for each in counts)


for name, phases in counted.items():
    for phase, found in phases.items():
        shares = ", ".join(
            f"{kind} {flops:.2f} % and {size:.0f} %"
            for kind in KINDS
            for flops, size in [share(name, phase, kind)]
        )
        print(
            f"{name}, {phase}: {found.flops.total() / 1e12:.3g} TFLOP and"
            f" {found.bytes.total() / 1e9:.3g} GB; {shares}"
        )

# One addition of six numbers: six FLOPs, and three tensors of 24 bytes. A view or an empty tensor has neither.
one, other = torch.ones(2, 3), torch.ones(2, 3)
with Operations() as added:
    torch.empty(2, 3)
    (one + other).view(6)
assert (added.flops, added.bytes) == ({"element-wise": 6}, {"element-wise": 72})

# The page's table: percent of the bytes that matmuls, normalizations and the others move.
table = {
    ("Llama 3.1 8B", "forward"): (62, 8, 30),
    ("Llama 3.1 8B", "backward"): (64, 6, 30),
    ("GPT-2", "forward"): (23, 22, 56),
    ("GPT-2", "backward"): (25, 20, 55),
    ("Mixtral 8x7B", "forward"): (82, 1, 17),
    ("Mixtral 8x7B", "backward"): (79, 1, 20),
}
for (name, phase), row in table.items():
    for kind, percent in zip(KINDS, row, strict=True):
        found = share(name, phase, kind)[1]
        assert round(found) == percent, f"{name}, {phase}, {kind}: {found} %"
    assert share(name, phase, "matmul")[0] > 99.8, f"{name}, {phase}: other FLOPs"

GPT2.activation_function = "gelu_pytorch_tanh"  # one kernel
one_gelu = passes(GPT2)["forward"].bytes
assert round(100 * one_gelu["matmul"] / one_gelu.total()) == 36, one_gelu

llama, mixtral = counted["Llama 3.1 8B"], counted["Mixtral 8x7B"]
linear = 2 * TOKENS * (8_030_261_248 - 128_256 * 4_096 - 65 * 4_096)
scores = 4 * TOKENS**2 * 4_096 * 32
assert llama["forward"].flops["matmul"] == linear + scores
assert llama["backward"].flops["matmul"] == 2 * linear + 2.5 * scores, (
    "backward is not twice the linear layers and 2.5 times attention"
)


def intensity(found) -> float:
    """FLOPs of matmuls per byte that they move."""
    return found.flops["matmul"] / found.bytes["matmul"]


assert 0.9 < intensity(llama["decode"]) < 1.1, "decode has another intensity"
assert intensity(llama["forward"]) > 700, "a forward pass has another intensity"
assert intensity(mixtral["forward"]) < intensity(llama["forward"]) / 2, (
    "the experts' matmuls are as dense as those of a dense model"
)
saved = eager["forward"].bytes.total() - llama["forward"].bytes.total()
print(f"one kernel per RMSNorm moves {saved / 1e9:.1f} GB less in forward")
assert saved > 65 * 20 * TOKENS * 4_096, "fused RMSNorm saves no traffic"
