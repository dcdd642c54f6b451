# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 300
# ablation = { ', map_location="cpu", mmap=True' = "" }
# ///
"""A training is resumed without a second copy of its weights or its optimizer states in memory."""

import torch
from torch.profiler import profile
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


model, optimizer = made()
step(model, optimizer)
torch.save(
    {"model": model.state_dict(), "optimizer": optimizer.state_dict()},
    "checkpoint.pt",
)
resumed, resumed_optimizer = made()


def resume(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    # --8<-- [start:enable]
    saved = torch.load("checkpoint.pt", map_location="cpu", mmap=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    del saved  # while it lives, what it has loaded lives
    # --8<-- [end:enable]


# --8<-- [start:is-it-on]
with profile(profile_memory=True, acc_events=True) as trace:
    resume(resumed, resumed_optimizer)
events = trace.profiler.kineto_results.events()
held = highest = 0
for event in sorted(events, key=lambda e: e.start_ns()):
    held += event.nbytes() if event.name() == "[memory]" else 0
    highest = max(highest, held)
parameters = sum(p.numel() for p in resumed.parameters())
print(f"resuming takes {highest / parameters:.1f} bytes a parameter")
# --8<-- [end:is-it-on]

# The optimizer states are 8 bytes a parameter. On a CPU they stay in the file's pages.
assert highest <= 8.1 * parameters, (
    f"resuming took {highest / parameters:.1f} bytes a parameter at its highest"
)
# And the run goes on as if it had never been interrupted.
step(model, optimizer)
step(resumed, resumed_optimizer)
for one, other in zip(model.parameters(), resumed.parameters(), strict=True):
    torch.testing.assert_close(one, other, rtol=0, atol=1e-7)
