# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "safetensors>=0.5"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "dtype=torch.bfloat16)  # mapped" = "dtype=torch.float32)  # mapped" }
# ///
"""Memory of four ways to load a checkpoint, measured after a forward pass: right after loading, mapped weights are not in memory yet."""

import gc
import multiprocessing
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

CONFIG = LlamaConfig(
    vocab_size=4096,
    hidden_size=1024,
    intermediate_size=4096,
    num_hidden_layers=6,
    num_attention_heads=8,
    num_key_value_heads=8,
    tie_word_embeddings=False,
)


def write(folder):
    """Write a checkpoint of bf16 weights, 215 MB."""
    LlamaForCausalLM(CONFIG).to(torch.bfloat16).save_pretrained(folder)


# --8<-- [start:ways]
def from_pretrained(folder):
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)  # mapped


def in_fp32(folder):
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)


def by_hand(folder):
    model = LlamaForCausalLM(CONFIG)  # fp32, initialized and then overwritten
    model.load_state_dict(torch.load(folder / "model.pt", weights_only=True))
    return model


def on_meta(folder):
    with torch.device("meta"):
        model = LlamaForCausalLM(CONFIG)
    model.load_state_dict(load_file(folder / "model.safetensors"), assign=True)
    # What no checkpoint has: the frequencies of the rotary embedding.
    model.model.rotary_emb = type(model.model.rotary_emb)(CONFIG)
    return model


# --8<-- [end:ways]


def memory(field: str) -> float:
    """Return a field of this process's memory, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def measure(way, folder, answers):
    """Send the memory after loading, after a forward pass, and at the peak, above that before."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = memory("VmRSS")
    model = way(folder)
    loaded = memory("VmRSS")
    with torch.no_grad():
        logits = model(torch.arange(16)[None]).logits
    assert logits.isfinite().all()
    answers.put([n - before for n in (loaded, memory("VmRSS"), memory("VmHWM"))])


def in_a_process(function, *arguments):
    """Run a function in a process of its own, so that memory of earlier ones does not count."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=function, args=arguments)
    process.start()
    process.join()
    assert process.exitcode == 0, (
        f"{function.__name__} ended with {process.exitcode}"
    )


def convert(folder):
    """Write the same weights in the format of torch.save."""
    torch.save(load_file(folder / "model.safetensors"), folder / "model.pt")


found = {}
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    in_a_process(write, folder)
    in_a_process(convert, folder)
    size = (folder / "model.safetensors").stat().st_size / 2**20
    for way in (from_pretrained, in_fp32, by_hand, on_meta):
        answers = multiprocessing.get_context("fork").SimpleQueue()
        in_a_process(measure, way, folder, answers)
        found[way.__name__] = answers.get()
print(f"file: {size:.0f} MiB; after loading, after a forward pass, peak")
for name, figures in found.items():
    print(f"{name:>16}: " + ", ".join(f"{each:.0f} MiB" for each in figures))

# The proof, with a tenth of the file for what Python and the forward pass need.
slack = size / 4
loaded, after, peak = found["from_pretrained"]
assert abs(after - size) < slack, found
assert peak < size + 2 * slack, found
for way in ("in_fp32", "by_hand"):
    assert 1.8 * size < found[way][1] < 2 * size + 2 * slack, found
    assert 2.8 * size < found[way][2] < 3 * size + 2 * slack, found
assert abs(found["on_meta"][1] - size) < slack, found
assert found["on_meta"][2] < size + 2 * slack, found
assert found["on_meta"][0] < after / 2, (
    "the weights were in memory before the forward pass"
)
