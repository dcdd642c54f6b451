# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { "torch.bfloat16 if fast_bf16 else torch.float32" = "torch.float16" }
# ///
"""Choose bf16 on a CPU that computes in it, and fp32 elsewhere: torch.cpu.get_capabilities() knows the instruction sets."""

from pathlib import Path
from unittest.mock import patch

import torch
from transformers import AutoModelForCausalLM

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:enable]
has = torch.cpu.get_capabilities()
fast_bf16 = has.get("avx512_bf16", False) or has.get("amx_bf16", False)
model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M",
    dtype=torch.bfloat16 if fast_bf16 else torch.float32,
)
print(
    f"AMX: {has.get('amx_bf16', False)}, AVX-512 BF16: {has.get('avx512_bf16', False)}"
)
# --8<-- [end:enable]
shown = printed.call_args.args[0]

# The proof: what torch reports is what the kernel lists, and the weights have the format of the CPU.
listed = set(Path("/proc/cpuinfo").read_text().split())
for name, flag in (
    ("avx512_bf16", "avx512_bf16"),
    ("amx_bf16", "amx_bf16"),
    ("avx2", "avx2"),
):
    assert has.get(name, False) == (flag in listed), name
assert (
    has.get("avx2", False) or has["architecture"] != "x86_64"
)  # not an empty answer
amx, avx512 = ("amx_bf16" in listed, "avx512_bf16" in listed)
assert shown == f"AMX: {amx}, AVX-512 BF16: {avx512}", f"printed was {shown}"
expected = torch.bfloat16 if {"avx512_bf16", "amx_bf16"} & listed else torch.float32
assert {p.dtype for p in model.parameters()} == {expected}, model.dtype
