# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "Qwen3MoeForCausalLM(EXPERTS)" = "LlamaForCausalLM(DENSE)" }
# ///
"""A mixture of experts is copied while it loads: transformers 5 stacks the experts of a layer. A dense model of the same type stays mapped."""

import gc
import multiprocessing
import tempfile
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

SIZES = {
    "vocab_size": 256,
    "hidden_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}
DENSE = LlamaConfig(intermediate_size=8192, **SIZES)
EXPERTS = Qwen3MoeConfig(
    moe_intermediate_size=1024, num_experts=8, num_experts_per_tok=2, **SIZES
)


def write(folder, kind):
    """Write a checkpoint of bf16 weights, about 200 MB."""
    models = {"dense": lambda: LlamaForCausalLM(DENSE)}
    models["experts"] = lambda: Qwen3MoeForCausalLM(EXPERTS)
    model = models[kind]()
    model.to(torch.bfloat16).save_pretrained(folder)


# --8<-- [start:check]
def memory() -> dict[str, float]:
    """Return this process's private memory, mapped files and peak, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    names = {"private": "RssAnon", "mapped": "RssFile", "peak": "VmHWM"}
    return {name: int(fields[key].split()[0]) / 1024 for name, key in names.items()}


# --8<-- [end:check]


def measure(folder, answers):
    """Send what a model adds to the memory after a forward pass, and at the peak."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = memory()
    model = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        assert model(torch.arange(16)[None]).logits.isfinite().all()
    assert model.dtype == torch.bfloat16
    answers.put({name: size - before[name] for name, size in memory().items()})


def in_a_process(function, *arguments):
    """Run a function in a process of its own, so that memory of earlier ones does not count."""
    process = multiprocessing.get_context("fork").Process(
        target=function, args=arguments
    )
    process.start()
    process.join()
    assert process.exitcode == 0, (
        f"{function.__name__} ended with {process.exitcode}"
    )


found = {}
for kind in ("dense", "experts"):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_a_process(write, folder, kind)
        size = (folder / "model.safetensors").stat().st_size / 2**20
        answers = multiprocessing.get_context("fork").SimpleQueue()
        in_a_process(measure, folder, answers)
    found[kind] = {part: each / size for part, each in answers.get().items()}
    shares = ", ".join(f"{part} {each:.2f}" for part, each in found[kind].items())
    print(f"{kind}: {size:.0f} MiB, of which {shares}")

# The proof: the dense weights are pages of the file, the experts private memory. At the peak, the file is in memory too.
dense, experts = found["dense"], found["experts"]
assert dense["private"] < 0.25, found
assert dense["mapped"] > 0.75, found
assert dense["peak"] < 1.4, found
assert experts["private"] > 0.75, found
assert experts["peak"] > 1.7, found
# The unit is a MiB: 64 of them are private memory.
before = memory()["private"]
block = b"x" * 2**26
added = memory()["private"] - before
assert abs(added * 2**20 / len(block) - 1) < 0.02, f"64 MiB are {added}"
