# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "datasets>=5.2"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# datasets = ["Salesforce/wikitext"]
# needs = ["cuda"]
# timeout = 120
# ablation = { "    pin_memory=True," = "    pin_memory=False," }
# ///
"""A copy from pinned memory with non_blocking=True returns at once. The same call from other memory waits."""

from time import perf_counter

import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorForLanguageModeling

checkpoint = "openai-community/gpt2"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.eos_token
texts = load_dataset(
    "Salesforce/wikitext", "wikitext-2-raw-v1", split="train"
).filter(lambda row: row["text"].strip())
tokens = texts.map(
    lambda row: tokenizer(row["text"], truncation=True, max_length=64),
    remove_columns=["text"],
)

asked = []  # whether each copy was to return at once
to = torch.Tensor.to
torch.Tensor.to = lambda tensor, *args, **options: (
    asked.append(options.get("non_blocking")) or to(tensor, *args, **options)
)

# --8<-- [start:enable]
loader = DataLoader(
    tokens,
    batch_size=8,
    collate_fn=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    pin_memory=True,
)
for batch in loader:
    on_gpu = {
        key: value.to("cuda", non_blocking=True)  # returns before it is done
        for key, value in batch.items()
    }
# --8<-- [end:enable]
torch.Tensor.to = to

# --8<-- [start:is-it-on]
pinned = {name: tensor.is_pinned() for name, tensor in batch.items()}
print(f"pinned: {pinned}")
# --8<-- [end:is-it-on]

# The proof: the copy is ordered behind work on the GPU, and the CPU does not wait for it.
assert all(pinned.values()), f"what the loader gives is pinned: {pinned}"
assert asked, "nothing was copied"
assert all(asked), "a copy was to wait"
host = torch.ones(64, 1024, 1024)  # 256 MiB
host = host.pin_memory() if batch["input_ids"].is_pinned() else host
torch.cuda.synchronize()
behind = torch.cuda.Event()
torch.cuda._sleep(2_000_000_000)  # noqa: SLF001 - about a second on the GPU
copied = host.to("cuda", non_blocking=True)
behind.record()
assert not behind.query(), "the CPU waited for the copy"
torch.cuda.synchronize()
for name, tensor in batch.items():
    assert torch.equal(on_gpu[name].cpu(), tensor), f"{name} differs on the GPU"
assert copied.min() == copied.max() == 1, "the copy is not what was copied"


def seconds_of_a_call(source: torch.Tensor, **options: bool) -> float:
    """How long a copy holds up the CPU, behind a second of work on the GPU."""
    source.to("cuda")  # so that the GPU has memory for it
    torch.cuda.synchronize()
    torch.cuda._sleep(2_000_000_000)  # noqa: SLF001
    start = perf_counter()
    source.to("cuda", **options)
    return perf_counter() - start


ordinary = torch.ones(64, 1024, 1024)
at_once = seconds_of_a_call(host, non_blocking=True)
waits = [
    seconds_of_a_call(ordinary, non_blocking=True),
    seconds_of_a_call(host, non_blocking=False),
]
assert at_once < 0.1 < min(waits), (
    f"{at_once:.2f} s from pinned memory, else {waits}"
)
