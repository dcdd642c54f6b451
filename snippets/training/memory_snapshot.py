# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# needs = ["cuda"]
# timeout = 300
# ablation = { '_record_memory_history(max_entries=100_000, stacks="python")' = "_record_memory_history(None)" }
# ///
"""Record every allocation with the line of code that asked for it, and write the record when memory runs out."""

# ruff: noqa: SLF001, S301 - PyTorch offers it under these names, and we wrote the file
import pickle
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
batch = tokenizer(["Who holds it?"] * 8, return_tensors="pt").to(device)
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def step() -> None:
    """A training step, and at its end more than any card has."""
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.empty(2**50, dtype=torch.uint8, device=device)


# --8<-- [start:enable]
torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="python")
try:
    step()  # your steps
except torch.OutOfMemoryError:
    torch.cuda.memory._dump_snapshot("memory.pickle")
    print("open memory.pickle at https://pytorch.org/memory_viz")
# --8<-- [end:enable]

assert Path("memory.pickle").exists(), "no record was written"
snapshot = pickle.loads(Path("memory.pickle").read_bytes())
events = [event for trace in snapshot["device_traces"] for event in trace]
here = [
    event
    for event in events
    if event["action"] == "alloc"
    and any(frame["name"] == "step" for frame in event["frames"])
]
states = sum(2 * p.numel() * p.element_size() for p in model.parameters())
assert sum(event["size"] for event in here) > states, (
    f"{len(here)} of {len(events)} events are allocations that the step asked for"
)
assert any(event["action"] == "oom" for event in events), "it does not show the end"
source = Path(__file__).read_text(encoding="utf-8").splitlines()
lines = {
    source[frame["line"] - 1].strip()
    for event in here
    for frame in event["frames"]
    if frame["name"] == "step" and frame["filename"] == __file__
}
assert "optimizer.step()" in lines, f"the lines that allocate are {lines}"
