# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "peft>=0.21"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# no_ablation = "it measures a training step and turns nothing on; its sums are held to a trace of the allocator instead"
# ///
# ruff: noqa: E402
"""Where the memory of a training step goes, at each of the four moments at which it can peak."""

import time
import warnings
from unittest.mock import patch

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:measure]
import torch
from peft import LoraConfig, get_peft_model
from torch.profiler import profile
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"  # your model, and a batch that fits
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
text = "Count the bytes before you buy the card."
batch = tokenizer([text] * 8, return_tensors="pt").to(device)


def held(tensors) -> int:
    """Bytes of distinct tensors."""
    sizes = {t.data_ptr(): t.nbytes for t in tensors if t is not None}
    return sum(sizes.values())


def moments(model, *, autocast=False, accumulate=False) -> dict[str, int]:
    """Bytes at four moments of a step with the fused AdamW."""
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-5, fused=True)
    saved = {}  # by the forward pass, with and without autocast's cache
    for cache in (True, True, False):  # optimizer states exist from the second on
        trace = profile(profile_memory=True)
        cast = torch.autocast(device, torch.bfloat16, enabled=autocast)
        with cast if cache else trace, trace if cache else cast:
            loss = model(**batch, labels=batch["input_ids"]).loss
        loss.backward()
        gradients = held(p.grad for p in weights)
        optimizer.step()
        optimizer.zero_grad()
        rows = trace.key_averages()
        saved[cache] = sum(
            row.self_cpu_memory_usage + row.self_device_memory_usage for row in rows
        )
    groups = optimizer.state.values()
    states = held(t for group in groups for t in group.values() if t.dim())
    fixed = held(model.parameters()) + states
    earlier = gradients if accumulate else 0  # of earlier micro-batches

    head = model.get_output_embeddings().weight
    tied = head is model.get_input_embeddings().weight
    half = autocast or head.dtype != torch.float32  # the logits are cast to fp32
    logits = batch["input_ids"].numel() * model.config.vocab_size
    head_gradient = copies = 0
    if head.requires_grad:
        head_gradient = head.nbytes + (2 * head.numel() if autocast else 0)
        copies = (2 * tied + accumulate) * head.nbytes
    return {
        "loss": fixed + earlier + saved[True] + (6 if half else 4) * logits,
        "start of backward": fixed
        + earlier
        + saved[False]
        + max(8 * logits, head_gradient - (2 * logits if half else 0)),
        "end of backward": fixed + gradients + copies,
        "optimizer step": fixed + gradients,
    }


model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()  # LoRA: get_peft_model(model, LoraConfig()) first
for name, size in moments(model, autocast=True, accumulate=True).items():
    print(f"{name:>18}: {size / 2**20:8.1f} MiB")
# --8<-- [end:measure]
shown = [call.args[0] for call in printed.call_args_list]
assert all(p.grad is None for p in model.parameters()), "a gradient was left"


def traced(model, *, autocast=False, accumulate=False) -> list[int]:
    """The peaks of the same moments, from a trace of every allocation of a step."""
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-5, fused=True)
    marks = []

    def run():
        with torch.autocast(device, torch.bfloat16, enabled=autocast):
            return model(**batch, labels=batch["input_ids"]).loss

    def mark(*_):
        marks.append(time.time_ns())

    def watch(_, inputs, output=None):
        tensor = inputs[0] if output is None else output
        if tensor.requires_grad and tensor.grad_fn:
            tensor.register_hook(mark)

    run().backward()
    optimizer.step()
    optimizer.zero_grad()
    if accumulate:
        run().backward()
    model.get_output_embeddings().register_forward_pre_hook(watch)
    model.get_input_embeddings().register_forward_hook(watch)
    states = (t for s in optimizer.state.values() for t in s.values() if t.dim())
    fixed = held(model.parameters()) + held(states)
    now = fixed + (held(p.grad for p in weights) if accumulate else 0)
    with profile(profile_memory=True) as trace:
        loss = run()
        mark()
        loss.backward()
        mark()
        optimizer.step()
    if len(marks) == 3:  # frozen embeddings have no gradient
        marks.insert(2, marks[2])
    peaks, left = [0] * 5, [0] * 5
    events = trace.profiler.kineto_results.events()
    for event in sorted(events, key=lambda each: each.start_ns()):
        if event.name() == "[memory]":
            now += event.nbytes()
            moment = sum(event.start_ns() > end for end in marks)
            peaks[moment], left[moment] = max(peaks[moment], now), now
    loss_peak, start, _, end, step = peaks  # the third one is between the two ends
    return [loss_peak, start, end or left[2], step]


def load(*, dtype=torch.float32, lora=False):
    loaded = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=dtype)
    if lora:
        config = LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True)
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            loaded = get_peft_model(loaded, config)
    return loaded.to(device).train()


sums = {}
several = batch
for label, weights, setting in (
    ("fp32", {}, {}),
    ("fp32, one text", {}, {}),  # the LM head's gradient is larger than the logits
    ("fp32, accumulated", {}, {"accumulate": True}),
    ("autocast", {}, {"autocast": True}),
    ("autocast, accumulated", {}, {"autocast": True, "accumulate": True}),
    ("bf16", {"dtype": torch.bfloat16}, {}),
    ("bf16, accumulated", {"dtype": torch.bfloat16}, {"accumulate": True}),
    ("LoRA", {"dtype": torch.bfloat16, "lora": True}, {}),
    (
        "LoRA, accumulated",
        {"dtype": torch.bfloat16, "lora": True},
        {"accumulate": True},
    ),
):
    one = label == "fp32, one text"
    batch = tokenizer([text], return_tensors="pt").to(device) if one else several
    with patch.object(torch.optim, "AdamW", wraps=torch.optim.AdamW) as made:
        predicted = moments(load(**weights), **setting)
    assert made.call_args.kwargs.get("fused"), "not the fused AdamW"
    found = traced(load(**weights), **setting)
    assert list(predicted) == [
        "loss",
        "start of backward",
        "end of backward",
        "optimizer step",
    ], list(predicted)
    for (name, size), peak in zip(predicted.items(), found, strict=True):
        # In fp32, only temporary tensors of the loss are not in the formula.
        near = device == "cpu" and "fp32" in label and name != "loss"
        assert abs(size / peak - 1) < (0.001 if near else 0.05), (
            f"{label}, {name}: {size}, traced {peak}"
        )
    sums[label] = predicted

# Gradients of earlier micro-batches are allocated next to activations.
for label in ("fp32", "autocast", "bf16"):
    alone, later = sums[label], sums[f"{label}, accumulated"]
    trained = (
        alone["optimizer step"] // 4
    )  # weights, gradients and two optimizer states
    for moment in ("loss", "start of backward"):
        assert later[moment] - alone[moment] == trained, f"{label}: {moment}"
    assert later["optimizer step"] == alone["optimizer step"]
    assert later["end of backward"] > alone["end of backward"], "no more copies"
assert sums["bf16"]["optimizer step"] * 2 == sums["fp32"]["optimizer step"]
assert sums["LoRA"]["optimizer step"] < sums["bf16"]["optimizer step"] / 2
expected = [
    f"{name:>18}: {size / 2**20:8.1f} MiB"
    for name, size in sums["autocast, accumulated"].items()
]
assert shown == expected, f"printed was {shown}"
