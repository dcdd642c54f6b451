# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 300
# ablation = { ', map_location="cpu", mmap=True' = "" }
# ///
"""Training resumes without a second copy of the weights or the optimizer states in memory."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
batch = tokenizer(["Go on from here."] * 4, return_tensors="pt").to(device)


def made() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """A model without dropout, so that two runs can be compared, and its optimizer."""
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    model = model.to(device).eval()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-5)


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """One training step."""
    model(**batch, labels=batch["input_ids"]).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


first, first_optimizer = made()
step(first, first_optimizer)
torch.save(
    {"model": first.state_dict(), "optimizer": first_optimizer.state_dict()},
    "checkpoint.pt",
)
model, optimizer = made()

calls = []
load = torch.load
torch.load = lambda *args, **options: (
    calls.append(options) or load(*args, **options)
)
# --8<-- [start:enable]
saved = torch.load("checkpoint.pt", map_location="cpu", mmap=True)
model.load_state_dict(saved["model"])
optimizer.load_state_dict(saved["optimizer"])
# --8<-- [end:enable]

torch.load = load
states = optimizer.state_dict()["state"].values()
loaded = saved["optimizer"]["state"].values()
tensors = [*model.parameters(), *saved["model"].values()]
tensors += [t for group in (*states, *loaded) for t in group.values()]
lines = Path("/proc/self/maps").read_text().splitlines()
ends = [line.split()[0].split("-") for line in lines if "checkpoint.pt" in line]
pages = [range(int(start, 16), int(end, 16)) for start, end in ends]
held = {
    t.data_ptr(): t.numel() * t.element_size()
    for t in tensors
    if not any(t.data_ptr() in page for page in pages)  # pages of the file
}
parameters = sum(p.numel() for p in model.parameters())
print(f"{sum(held.values()) / parameters:.1f} bytes per parameter are held")

# Weights 4, states 8. Loaded into memory, the weights would be there twice. On a CPU
# even the states are still in the file's pages.
assert sum(held.values()) >= 4 * parameters, "not even the weights were counted"
assert sum(held.values()) < 12.1 * parameters, (
    f"{sum(held.values()) / parameters:.1f} bytes per parameter are held after resuming"
)
# Without a GPU, the tensors were saved from CPU memory, so look at the call.
assert [call.get("map_location") for call in calls] == ["cpu"], calls
del saved, loaded, tensors
# And the run goes on as if it had never been interrupted.
step(first, first_optimizer)
step(model, optimizer)
for one, other in zip(first.parameters(), model.parameters(), strict=True):
    assert torch.allclose(one, other, rtol=0, atol=1e-7), (
        "the resumed run goes on elsewhere"
    )
