# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 120
# ablation = { "\"VeRA\": VeraConfig(r=16, **adapted)," = "\"VeRA\": LoraConfig(r=16, **adapted)," }
# ///
"""PEFT's adapters train different numbers of parameters at the same rank. Each trained parameter costs 16 bytes with AdamW, and VeRA also stores frozen projections."""

import warnings
from unittest.mock import patch

import torch
from peft import (
    IA3Config,
    LoHaConfig,
    LoraConfig,
    OFTConfig,
    VeraConfig,
    get_peft_model,
)
from transformers import AutoModelForCausalLM, AutoTokenizer

# peft 0.21 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`")

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "HuggingFaceTB/SmolLM2-135M"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Which adapter trains how much?"], return_tensors="pt")
batch = batch.to(device)

# --8<-- [start:enable]
adapted = {"target_modules": "all-linear", "task_type": "CAUSAL_LM"}
adapters = {
    "LoRA": LoraConfig(r=16, **adapted),
    "rsLoRA": LoraConfig(r=16, use_rslora=True, **adapted),
    "PiSSA": LoraConfig(r=16, init_lora_weights="pissa_niter_4", **adapted),
    "DoRA": LoraConfig(r=16, use_dora=True, **adapted),
    "LoHa": LoHaConfig(r=16, **adapted),
    "OFT": OFTConfig(oft_block_size=32, **adapted),
    "VeRA": VeraConfig(r=16, **adapted),
    "IA3": IA3Config(task_type="CAUSAL_LM"),  # keys, values and one MLP layer
}
# --8<-- [end:enable]

layers = [
    (module.out_features, module.in_features, name.rsplit(".", 1)[-1])
    for name, module in AutoModelForCausalLM.from_pretrained(
        checkpoint
    ).model.named_modules()
    if isinstance(module, torch.nn.Linear)
]
found, states, frozen, begun = {}, {}, {}, {}

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:count]
for name, adapter in adapters.items():
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.bfloat16)
    size = model.num_parameters()
    model = get_peft_model(model, adapter).to(device)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    with torch.autocast(device, dtype=torch.bfloat16):
        model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    found[name] = sum(p.numel() for p in trained)
    print(f"{name:6} {found[name]:9,} trained parameters,", end=" ")
    print(f"{found[name] / size:.2%} of the model")
    # --8<-- [end:count]
    states[name] = sum(
        t.numel() * t.element_size()
        for state in optimizer.state.values()
        for t in state.values()
        if t.dim()
    )
    weights = sum(p.numel() * p.element_size() for p in trained)
    assert weights == 4 * found[name], f"{name} is not trained in fp32"
    assert {p.grad.dtype for p in trained} == {torch.float32}, name
    assert states[name] == 8 * found[name], (
        f"{name}: {states[name]:,} bytes of states"
    )
    assert len(trained) > 0, f"{name} trains nothing"
    if name in ("LoRA", "rsLoRA", "PiSSA", "DoRA"):
        layer = model.get_base_model().model.layers[0].self_attn.q_proj
        start = layer.base_layer.weight.cpu().float()
        begun[name] = layer.scaling["default"], start
    frozen[name] = sum(
        b.numel()
        for b in {
            b.data_ptr(): b for n, b in model.named_buffers() if "vera_" in n
        }.values()
    )

shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

# The proof: each count follows from the shapes of the adapted layers.
rank, blocks = 16, 32
lora = sum(rank * (n + k) for n, k, _ in layers)
expected = {
    "LoRA": lora,
    "rsLoRA": lora,
    "PiSSA": lora,
    "DoRA": lora + sum(n for n, _, _ in layers),  # a magnitude per output
    "LoHa": 2 * lora,  # a product of two pairs
    "OFT": sum(k // blocks * blocks * (blocks - 1) // 2 for _, k, _ in layers),
    "VeRA": sum(n + rank for n, _, _ in layers),  # two vectors per layer
    "IA3": sum(n for n, _, kind in layers if kind in {"k_proj", "v_proj"})
    + sum(k for _, k, kind in layers if kind == "down_proj"),
}
assert found == expected, {n: (found[n], expected[n]) for n in found}

model = AutoModelForCausalLM.from_pretrained(checkpoint)
total = sum(p.numel() for p in model.parameters())
for name, first, second in zip(expected, shown[::2], shown[1::2], strict=True):
    assert first == f"{name:6} {expected[name]:9,} trained parameters,", first
    assert second == f"{expected[name] / total:.2%} of the model", (name, second)

# rsLoRA has another factor, and PiSSA another frozen weight. Both train as many numbers as LoRA.
factors = {name: factor for name, (factor, _) in begun.items()}
assert factors == {"LoRA": 0.5, "rsLoRA": 2, "PiSSA": 0.5, "DoRA": 0.5}, factors
same = {name for name, (_, w) in begun.items() if w.equal(begun["LoRA"][1])}
assert same == {"LoRA", "rsLoRA", "DoRA"}, f"with the weights of the model: {same}"

# VeRA's projections are frozen, shared by all layers, and as wide as the widest layer.
shared = rank * (max(k for _, k, _ in layers) + max(n for n, _, _ in layers))
assert frozen["VeRA"] == shared, (
    f"{frozen['VeRA']:,} frozen numbers, not {shared:,}"
)
