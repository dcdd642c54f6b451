# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["state-spaces/mamba-130m-hf", "tiiuae/Falcon-H1-0.5B-Instruct"]
# ablation = { "        __import__(name)" = "        name" }
# ///
"""Without the package mamba_ssm, transformers runs a Mamba layer token by token in PyTorch: the operations of a prefill grow with its tokens. Those of Falcon-H1, whose fallback works in chunks, do not. The check finds the packages that cannot be imported, which transformers reports as not installed."""

import logging
import re
from pathlib import Path
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
packages = ("mamba_ssm", "causal_conv1d")  # for Qwen3-Next: fla, causal_conv1d
missing = []
for name in packages:
    try:
        __import__(name)
    except Exception:  # noqa: BLE001 - missing, or built for another torch or CUDA
        missing.append(name)
print("in PyTorch for want of:", ", ".join(missing) or "nothing")
# --8<-- [end:is-it-on]
shown = printed.call_args.args
# With one of the packages, or with both, the check names the others. A package that raises an error counts as missing.
check = Path(__file__).read_text(encoding="utf-8").split("is-it-on]\n")[1]
for found in (packages[:1], packages):

    def imported(name, found=found):
        if name not in found:
            raise OSError("undefined symbol")

    texts = []
    names = {
        "__import__": imported,
        "print": lambda *text, to=texts: to.append(text),
    }
    exec(check, names)  # noqa: S102
    others = ", ".join(set(packages) - set(found)) or "nothing"
    assert texts == [(shown[0], others)], texts


mamba = AutoModelForCausalLM.from_pretrained("state-spaces/mamba-130m-hf").eval()
falcon = AutoModelForCausalLM.from_pretrained(
    "tiiuae/Falcon-H1-0.5B-Instruct"
).eval()


class Operations(TorchDispatchMode):
    """Count the operations, each of which is a kernel or more on a GPU."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


class Reports(logging.Handler):
    """Keep what transformers reports."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


reports = Reports()
logging.getLogger("transformers").addHandler(reports)


def operations(model, tokens: int) -> int:
    ids = torch.arange(tokens)[None] % model.config.vocab_size
    with torch.no_grad(), Operations() as counted:
        model(ids)
    return counted.count


# The proof: transformers falls back for exactly the packages that the check names.
short, long = operations(mamba, 64), operations(mamba, 256)
per_token = (long - short) / 192 / mamba.config.num_hidden_layers
chunked = operations(falcon, 256) / operations(falcon, 64)
print(f"Mamba: {per_token:.0f} operations per token and layer")
print(f"Falcon-H1: {chunked:.2f} times the operations for 4 times the tokens")
fallen = [text for text in reports.texts if "falling back" in text]
named = {name for text in fallen for name in re.findall(r"because `(.+?)`", text)}
assert named == set(missing), f"{named}, and not {missing}"
assert shown[0] == "in PyTorch for want of:", shown
assert set(shown[1].split(", ")) == (named or {"nothing"}), f"printed was {shown}"
if "mamba_ssm" in named:
    assert per_token > 5, f"{per_token}: the scan is no loop over tokens by now"
    assert chunked < 1.5, f"{chunked}: the scan is a loop over tokens"
