# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# timeout = 300
# ablation = { 'record_function("input")' = 'record_function("whatever")' }
# ///
"""Where the time of a training step goes: waiting for a batch, matmuls, other operations, or none of these."""

import re
from collections import Counter
from functools import partial
from time import perf_counter, sleep
from unittest.mock import patch

import torch
from datasets import load_dataset
from torch.autograd import DeviceType
from torch.profiler import profile, record_function
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers import DataCollatorForLanguageModeling as Collator

device = "cuda" if torch.cuda.is_available() else "cpu"
name = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(name)
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
model = model.to(device).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
texts = load_dataset("Salesforce/wikitext", "wikitext-2-raw-v1", split="train")
rows = [
    tokenizer(row["text"], truncation=True, max_length=256)
    for row in texts
    if row["text"].strip()
]


def batches(delay: float = 0.0):
    """Batches of eight texts, each after a delay, for ever."""

    def collate(rows):
        sleep(delay)
        return Collator(tokenizer, mlm=False)(rows)

    while True:
        yield from DataLoader(
            rows, batch_size=8, collate_fn=collate, drop_last=True
        )


def train(batch) -> None:
    """One step of your loop."""
    model(**{key: value.to(device) for key, value in batch.items()}).loss.backward()
    optimizer.step()
    optimizer.zero_grad()


printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:measure]
MATMULS = ("mm", "bmm", "addmm", "baddbmm", "_scaled_mm", "_grouped_mm")
ATTENTION = ("_scaled_dot_product", "_flash", "_efficient", "_cudnn")


def where_time_goes(loader, steps: int = 3) -> dict[str, float]:
    """Return four shares of the time that these steps take."""
    loader = iter(loader)
    for _ in range(2):  # warm up: optimizer states, choice of kernels
        train_and_wait(next(loader))
    with profile() as trace, record_function("whole"):
        for _ in range(steps):
            with record_function("input"):
                batch = next(loader)
            train_and_wait(batch)
    took = Counter()
    for event in trace.events():
        if event.device_type != DeviceType.CPU:  # a kernel, a copy or a mark
            if not event.is_user_annotation:
                took["busy"] += event.device_time_total
        elif event.name in ("whole", "input"):
            took[event.name] += event.cpu_time_total
        elif event.name.startswith("aten::") and not within(event, "input"):
            spent = event.self_device_time_total
            if device == "cpu":
                spent = event.self_cpu_time_total
                took["busy"] += spent
            if event.name[6:].startswith(MATMULS + ATTENTION):
                took["matmuls"] += spent
    seconds = {
        "waiting for input": took["input"],
        "matmuls": took["matmuls"],
        "other operations": took["busy"] - took["matmuls"],
        "none of these": took["whole"] - took["input"] - took["busy"],
    }
    return {part: time / took["whole"] for part, time in seconds.items()}


def train_and_wait(batch) -> None:
    """Wait for the GPU, or its work overlaps with the wait for the next batch."""
    train(batch)
    if device == "cuda":
        torch.cuda.synchronize()


def within(event, name: str) -> bool:
    """Return whether an operation ran inside a range of this name."""
    while event and event.name != name:
        event = event.cpu_parent
    return event is not None


for part, share in where_time_goes(batches()).items():
    print(f"{part:>18}: {share:6.1%}")
# --8<-- [end:measure]
shown = [call.args[0] for call in printed.call_args_list]

# Four shares in percent are printed, and add up to the whole.
parts = ["waiting for input", "matmuls", "other operations", "none of these"]
form = "\n".join(rf"{part:>18}: +([0-9]+\.[0-9])%" for part in parts)
found = re.fullmatch(form, "\n".join(shown))
assert found, f"printed was {shown}"
assert abs(sum(map(float, found.groups())) - 100) < 0.3, f"printed was {shown}"

# The parts are no larger than the whole: what is left of it is not negative.
shares = where_time_goes(batches())
assert all(share >= 0 for share in shares.values()), shares
assert shares["matmuls"] > 0 < shares["other operations"], shares
assert abs(sum(shares.values()) - 1) < 1e-6, shares

# A loader that takes five steps' time for each batch is found to be the input.
batch = next(batches())
start = perf_counter()
train_and_wait(batch)
seconds = perf_counter() - start
slow = where_time_goes(batches(delay=5 * seconds))
print(f"with a slow loader, {slow['waiting for input']:.0%} of the time is input")
assert slow["waiting for input"] > 0.5 > shares["waiting for input"], (
    f"input is {slow['waiting for input']:.0%} of the time with a slow loader, "
    f"and {shares['waiting for input']:.0%} without"
)

# A step of one kind alone is found to be of that kind.
square = torch.randn(4, 512, 512, device=device)
one = square[0]
KINDS = {
    "matmuls": [
        lambda: one @ one,
        lambda: square @ square,
        lambda: torch.addmm(one, one, one),
        lambda: torch.baddbmm(square, square, square),
        lambda: torch.nn.functional.scaled_dot_product_attention(
            square[None], square[None], square[None]
        ),
    ],
    "other operations": [square.exp, lambda: square.softmax(-1)],
    "none of these": [lambda: sleep(0.01)],
}


for kind, works in KINDS.items():
    for work in works:
        train = partial(lambda work, _: [work() for _ in range(5)], work)  # noqa: F811
        # Other programs on the same cores can delay any part, so the best of three attempts counts.
        attempts = [where_time_goes(batches(), steps=1) for _ in range(3)]
        shares = max(attempts, key=lambda attempt: attempt[kind])
        assert shares[kind] > 0.5, f"{shares} of a step of {kind} alone"


# Two steps warm up, before the three that are measured.
counted = []
train = counted.append
where_time_goes(iter(range(9)))
assert counted == [0, 1, 2, 3, 4], f"the batches {counted} were read"


# What the loader itself computes is input, and not counted as a matmul of the step.
def busy():
    """A loader that multiplies matrices."""
    while True:
        for _ in range(20):
            one @ one
        yield ()


train = len  # does nothing
shares = where_time_goes(busy(), steps=1)
assert shares["matmuls"] < 0.1, f"{shares} with matmuls in the loader"
