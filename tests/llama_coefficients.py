"""Memory polynomials of Llama, written by hand from its modules, for tests that need no traced file."""

import json
from pathlib import Path
from typing import Any

_NORM = {"bf16": 8, "autocast": 8, "fp32": 12}
LLAMA_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
LLAMA_1B = {
    **LLAMA_8B,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "head_dim": 64,
    "tie_word_embeddings": True,
}


def _plus(*polynomials: dict[str, int]) -> dict[str, int]:
    """Return the sum of polynomials."""
    total: dict[str, int] = {}
    for polynomial in polynomials:
        for term, size in polynomial.items():
            total[term] = total.get(term, 0) + size
    return total


def _weight_casts(precision: str) -> dict[str, int]:
    """Return the bf16 copies of a layer's weights, which autocast caches until the forward pass ends."""
    return {"h*q": 4, "h*k": 4, "f*h": 6} if precision == "autocast" else {}


def _saved(precision: str) -> dict[str, int]:
    """Return the activations that a layer saves without checkpointing."""
    width = 4 if precision == "fp32" else 2
    casts = _plus(_weight_casts(precision), {"B*S*h": 10} if precision == "autocast" else {})
    norms = {"B*S*h": 2 * _NORM[precision], "B*S": 8}
    fused = {"B*S*q": 2 * width, "B*S*k": 2 * width, "B*S*a": 4, "B*S*f": 4 * width}
    return _plus(norms, fused, casts)


def _adapted(targets: str) -> dict[str, int]:
    """Return the activations that a layer with adapters saves: each adapter's fp32 input, and A's output."""
    inputs = {"B*S*h": 20, "B*S*q": 4, "B*S*f": 4} if targets == "all" else {"B*S*h": 8}
    modules = 7 if targets == "all" else 2
    frozen = {"B*S*h": 8, "B*S": 8, "B*S*q": 4, "B*S*k": 4, "B*S*a": 4, "B*S*f": 6}
    return _plus(frozen, inputs, {"B*S*r": 4 * modules})


def _variant(precision: str, job: str, *, checkpointed: bool) -> dict[str, Any]:
    width = 4 if precision == "fp32" else 2
    full = _saved(precision) if job == "full" else _adapted(job.partition("-")[2])
    kept = {"B*S*h": width} if checkpointed else full
    transient = {"B*S*f": 3 * width}
    logits = {"B*S*V": 8 if precision == "fp32" else 10}
    last = _plus({"B*S*h": _NORM[precision], "B*S": 4}, {"B*S*h": 2, "V*h": 2} if precision == "autocast" else {})
    gradient = {"V*h": 4 if precision != "bf16" else 2} if job == "full" else {}
    layer = {
        "cached": _plus(kept, _weight_casts(precision)) if checkpointed else kept,
        "saved": kept,
        "forward": [_plus(full, transient)],
        "backward": [_plus(full, transient, {"h*q": 4, "f*h": 6} if job == "full" else {})],
        "backward_accumulated": [_plus(full, transient)],
    }
    head = {
        "saved": _plus(last, logits),
        "forward": [_plus(last, logits)],
        "backward": [_plus(last, {"B*S*V": 12}), _plus(last, {"B*S*V": 8}, gradient)],
        "backward_accumulated": [_plus(last, {"B*S*V": 12})],
    }
    return {"before": {"B*S": 8}, "layers": {"layer": layer}, "head": head, "end": {"backward": [{"B*S*h": 4}]}}


def _inference(job: str) -> dict[str, Any]:
    cache = {"decode": {"B*C*k": 4}, "prefill": {"B*S*k": 4}}.get(job, {})
    forward = _plus(cache, {"B*S*f": 6, "B*S*h": 8})
    layer: dict[str, Any] = {"cached": _plus(cache, {"B*S*h": 2}), "forward": [forward]}
    if job == "decode":
        layer["cache"] = cache
    return {"before": {"B*S": 8}, "layers": {"layer": layer}, "head": {"forward": [{"B*S*h": 4, "B*V": 2}]}}


def llama() -> dict[str, Any]:
    """Return a coefficient file of Llama."""

    def tensor(name: str, shape: list[str], kind: str = "linear") -> dict[str, Any]:
        return {"name": f"{name}.weight", "shape": shape, "kind": kind}

    decoder = [
        tensor("input_layernorm", ["h"], "norm"),
        tensor("self_attn.q_proj", ["q", "h"]),
        tensor("self_attn.k_proj", ["k", "h"]),
        tensor("self_attn.v_proj", ["k", "h"]),
        tensor("self_attn.o_proj", ["h", "q"]),
        tensor("post_attention_layernorm", ["h"], "norm"),
        tensor("mlp.gate_proj", ["f", "h"]),
        tensor("mlp.up_proj", ["f", "h"]),
        tensor("mlp.down_proj", ["h", "f"]),
    ]
    outside = [
        tensor("embed_tokens", ["V", "h"], "embedding"),
        tensor("lm_head", ["V", "h"], "head"),
        tensor("norm", ["h"], "norm"),
    ]
    jobs = ("full", "lora-qv", "lora-all", "qlora-all", "dora-all")
    variants = {
        f"{precision} sdpa {job}{' checkpointed' if on else ''}": _variant(precision, job, checkpointed=on)
        for precision in ("bf16", "autocast", "fp32")
        for job in jobs
        for on in (False, True)
    }
    variants |= {f"bf16 sdpa {job}": _inference(job) for job in ("evaluate", "prefill", "decode")}
    return {
        "family": "llama",
        "versions": {"torch": "2.13.0", "transformers": "5.23.0", "peft": "0.21.2"},
        "traced": "2026-11-23",
        "symbols": {
            "h": ["hidden_size"],
            "a": ["num_attention_heads"],
            "kv": ["num_key_value_heads", "num_attention_heads"],
            "f": ["intermediate_size"],
            "V": ["vocab_size"],
            "L": ["num_hidden_layers"],
            "d": ["head_dim", "h/a"],
        },
        "derived": {"q": "a*d", "k": "kv*d"},
        "kinds": ["layer"],
        "assumes": {"attention_bias": False},
        "kind_rule": {},
        "weights": {"layer": decoder, "outside": outside},
        "variants": variants,
    }


def write(root: Path, facts: Path) -> Path:
    """Write the file, and the facts that an estimate reads, below a folder; return the folder."""
    folder = root / "checks" / "coefficients"
    folder.mkdir(parents=True)
    (folder / "llama.json").write_text(json.dumps(llama()), "utf-8")
    for name in ("facts", "registry"):
        (root / "checks" / name).mkdir()
    for sheet in (facts, facts.with_name("out-of-memory.yml")):
        (root / "checks" / "facts" / sheet.name).write_text(sheet.read_text("utf-8"), "utf-8")
    return root
