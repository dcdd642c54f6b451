# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# ablation = { "schedule=schedule(wait=2, warmup=1, active=2)," = "schedule=schedule(wait=9, warmup=1, active=2)," }
# ///
"""The profiler writes a trace of two steps after warm-up. Each step shows its forward pass, backward pass and optimizer step."""

import json
from pathlib import Path

import torch
from torch.profiler import profile, record_function, schedule
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
batch = tokenizer(["Look at the gaps."] * 4, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

# --8<-- [start:trace]
with profile(
    schedule=schedule(wait=2, warmup=1, active=2),
    on_trace_ready=lambda trace: trace.export_chrome_trace("trace.json"),
) as profiler:
    for _ in range(5):
        with record_function("forward"):
            loss = model(**batch, labels=batch["input_ids"]).loss
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        profiler.step()
# --8<-- [end:trace]

assert Path("trace.json").exists(), "no trace was written"
events = json.loads(Path("trace.json").read_text(encoding="utf-8"))["traceEvents"]
names = [event["name"] for event in events if event.get("cat") == "user_annotation"]
counts = {name: names.count(name) for name in ("forward", "backward", "optimizer")}
print(f"{counts} in the trace")
assert set(counts.values()) == {2}, f"two steps were to be recorded: {counts}"
steps = [name for name in names if name.startswith("ProfilerStep#")]
assert sorted(steps) == ["ProfilerStep#3", "ProfilerStep#4"], steps
ranges = {e["name"]: e for e in events if e.get("cat") == "user_annotation"}
start = ranges["forward"]["ts"]
matmuls = [
    event
    for event in events
    if event.get("name") == "aten::addmm" and event["ts"] >= start
]
assert matmuls, "the trace has no matmuls"
plan = [profiler.schedule(step).name for step in range(5)]
assert plan == ["NONE"] * 2 + ["WARMUP", "RECORD", "RECORD_AND_SAVE"], plan
for name, inside in {
    "forward": "aten::addmm",
    "backward": "autograd::engine::evaluate_function: AddmmBackward0",
    "optimizer": "Optimizer.step#AdamW.step",
}.items():
    spans = [e for e in events if e.get("cat") == "user_annotation"]
    spans = [(e["ts"], e["ts"] + e["dur"]) for e in spans if e["name"] == name]
    found = [event["ts"] for event in events if event["name"] == inside]
    assert found, f"the trace has no {inside}"
    apart = [ts for ts in found if not any(a <= ts <= b for a, b in spans)]
    assert not apart, f"{len(apart)} of {len(found)} {inside} are not in {name}"
