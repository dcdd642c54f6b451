# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { '".experts." in name' = '"mlp." in name' }
# ///
"""How many layers of experts stay in main memory, and the bytes that a token reads there: from the configuration, at full size and without weights."""

from unittest.mock import patch

import torch
from transformers import (
    AutoModelForCausalLM,
    DeepseekV3Config,
    GptOssConfig,
    Qwen3MoeConfig,
)

GPT_OSS_120B = GptOssConfig()  # its defaults are those of gpt-oss-120b
QWEN_30B = Qwen3MoeConfig(  # Qwen3 30B-A3B
    hidden_size=2048,
    num_hidden_layers=48,
    num_attention_heads=32,
    num_key_value_heads=4,
    head_dim=128,
    num_experts=128,
    num_experts_per_tok=8,
    moe_intermediate_size=768,
    intermediate_size=6144,
    vocab_size=151936,
)
DEEPSEEK_V3 = DeepseekV3Config()  # its first three layers have no experts


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:plan]
def weights(config) -> tuple[list[int], int]:
    """Return the weights in the experts of each layer, and in everything else."""
    with torch.device("meta"):  # shapes without memory
        model = AutoModelForCausalLM.from_config(config)
    experts = [
        sum(
            p.numel() for name, p in layer.named_parameters() if ".experts." in name
        )
        for layer in model.model.layers
    ]
    return experts, sum(p.numel() for p in model.parameters()) - sum(experts)


def n_cpu_moe(experts: list[float], others: float, free: float) -> int:
    """Return N for --n-cpu-moe, from bytes: the GPU takes the last layers first."""
    free -= others
    if free < 0:
        raise ValueError("the layers do not fit even without their experts")
    layers = len(experts)
    while layers and experts[layers - 1] <= free:
        layers -= 1
        free -= experts[layers]
    return layers


def plan(config, bits: float, gpu: float, reserved: float) -> tuple[int, float]:
    """Return N, and the bytes that a token reads in main memory."""
    experts, others = weights(config)
    experts = [weights * bits / 8 for weights in experts]
    layers = n_cpu_moe(experts, others * 8.5 / 8, gpu - reserved)  # others: Q8_0
    used = config.num_experts_per_tok / config.num_local_experts
    return layers, used * sum(experts[:layers])


GB, GIB = 1e9, 2**30
for name, config, bits, card in (
    ("gpt-oss-120b", GPT_OSS_120B, 4.25, 24),  # experts in MXFP4
    ("Qwen3 30B-A3B", QWEN_30B, 4.89, 12),  # Q4_K_M, on average
):
    layers, read = plan(config, bits, card * GIB, reserved=4 * GB)  # cache, buffers
    print(f"{name}, {card} GB: --n-cpu-moe {layers}, {read / GB:.2f} GB per token")
# --8<-- [end:plan]

assert [call.args[0] for call in printed.call_args_list] == [
    "gpt-oss-120b, 24 GB: --n-cpu-moe 25, 1.32 GB per token",
    "Qwen3 30B-A3B, 12 GB: --n-cpu-moe 29, 0.67 GB per token",
]
# Three matrices per expert; gpt-oss has a bias for each of their outputs.
experts, others = weights(GPT_OSS_120B)
assert experts == [128 * (3 * 2880 * 2880 + 2 * 2880 + 2880)] * 36
assert sum(experts) + others == 116_829_156_672
experts, _ = weights(QWEN_30B)
assert experts == [128 * 3 * 2048 * 768] * 48
# DeepSeek-V3: the shared expert is no routed one, and its first three layers have none, so N counts them too.
experts, others = weights(DEEPSEEK_V3)
assert experts == [0] * 3 + [256 * 3 * 7168 * 2048] * 58
assert n_cpu_moe(experts, others, others + experts[-1]) == 60
assert n_cpu_moe(experts, others, others + 57.5 * experts[-1]) == 4
assert n_cpu_moe(experts, others, others + 58 * experts[-1]) == 0
# The plan fits, and one layer more would not.
for gpu in (8 * GIB, 16 * GIB, 48 * GIB):
    layers, read = plan(GPT_OSS_120B, 4.25, gpu, reserved=4 * GB)
    experts, others = weights(GPT_OSS_120B)
    layer, fixed = experts[0] * 4.25 / 8, others * 8.5 / 8 + 4 * GB
    assert fixed + (36 - layers) * layer <= gpu < fixed + (37 - layers) * layer
    assert read == layers * layer * 4 / 128  # 4 of 128 experts
# All of it fits, or not even the rest.
assert plan(QWEN_30B, 4.89, 24 * GIB, reserved=4 * GB) == (0, 0.0)
message = ""
try:
    plan(GPT_OSS_120B, 4.25, 6 * GIB, reserved=5 * GB)
except ValueError as error:
    message = str(error)
assert "even without their experts" in message
