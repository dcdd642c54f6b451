# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "if step % every == 0:" = "if True:" }
# ///
"""DiLoCo: each rank trains alone for some steps; then the ranks average what changed, and an outer optimizer applies it."""

import copy
import os
from unittest.mock import patch

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM

device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
dist.init_process_group()
checkpoint = "HuggingFaceTB/SmolLM2-135M"
every = 10  # steps between two exchanges; papers take 30 to 500
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model = model.to(device).train()
torch.manual_seed(1 + dist.get_rank())  # each rank reads other data
batches = torch.randint(8, 512, (2 * every, 2, 16), device=device)
inner = torch.optim.AdamW(model.parameters(), lr=1e-3)
before = [p.detach().clone() for p in model.parameters()]
sends, history = [], []
counted = patch.object(dist, "all_reduce", wraps=dist.all_reduce).start()


# --8<-- [start:outer]
shared = copy.deepcopy(model)  # the weights that all ranks have
outer = torch.optim.SGD(shared.parameters(), lr=0.7, momentum=0.9, nesterov=True)


def exchange():
    """Average what the ranks have changed, and go on from the new shared weights."""
    for old, new in zip(shared.parameters(), model.parameters(), strict=True):
        old.grad = (old - new.detach()) / dist.get_world_size()
        dist.all_reduce(old.grad)
    outer.step()
    outer.zero_grad()
    model.load_state_dict(shared.state_dict())


# --8<-- [end:outer]
def note(step):
    """Keep the weights of this step, and the bytes sent until then."""
    sends.append(sum(call.args[0].nbytes for call in counted.call_args_list))
    if step in (every - 1, every, 2 * every - 1, 2 * every):
        history.append([p.detach().clone() for p in model.parameters()])


# --8<-- [start:loop]
for step, batch in enumerate(batches, start=1):
    model(input_ids=batch, labels=batch).loss.backward()
    inner.step()
    inner.zero_grad()
    if step % every == 0:
        exchange()
    # --8<-- [end:loop]
    note(step)
dist.barrier()


def of_all_ranks(tensors):
    """Return the tensors of each rank, as one vector per rank."""
    mine = torch.cat([t.flatten() for t in tensors])
    found = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(found, mine)
    return found


assert dist.get_world_size() == 2
# Each exchange sends one copy of the weights in fp32, and nothing is sent between.
weights = sum(p.nbytes for p in model.parameters())
exchanges = [weights * (step // every) for step in range(1, 2 * every + 1)]
assert sends == exchanges, f"sent {sends}, not {exchanges}"
# Before an exchange the ranks differ; after it they have the same weights.
for alone in (history[0], history[2]):
    a, b = of_all_ranks(alone)
    assert not torch.equal(a, b), "the ranks did not train on their own"
for together in (history[1], history[3]):
    a, b = of_all_ranks(together)
    assert torch.equal(a, b), "the ranks have different weights"
# Optimizer states are not exchanged, and not reset.
a, b = of_all_ranks(
    [inner.state[p]["exp_avg"] for p in inner.param_groups[0]["params"]]
)
assert not torch.equal(a, b), "the ranks have the same optimizer states"
assert {int(s["step"]) for s in inner.state.values()} == {2 * every}


# The same by hand: Nesterov momentum over the mean of the changes. Each rank repeats
# its inner steps from its own start, so the last one before an exchange is at hand.
def again():
    """Return the weights after two exchanges, with formulas in place of the optimizer."""
    twin = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    twin = twin.to(device).train()
    adam = torch.optim.AdamW(twin.parameters(), lr=1e-3)
    start = [p.detach().clone() for p in twin.parameters()]
    velocity = [torch.zeros_like(p) for p in start]
    for step, batch in enumerate(batches, start=1):
        twin(input_ids=batch, labels=batch).loss.backward()
        adam.step()
        adam.zero_grad()
        if step % every:
            continue
        both = of_all_ranks(
            [s - p.detach() for s, p in zip(start, twin.parameters(), strict=True)]
        )
        change = ((both[0] + both[1]) / 2).split([p.numel() for p in start])
        for old, v, flat in zip(start, velocity, change, strict=True):
            d = flat.view_as(old)
            v.mul_(0.9).add_(d)
            old.sub_(0.7 * (d + 0.9 * v))
        with torch.no_grad():
            for p, old in zip(twin.parameters(), start, strict=True):
                p.copy_(old)
    return start


for p, q in zip(history[3], again(), strict=True):
    torch.testing.assert_close(p, q, rtol=1e-3, atol=1e-4)
moved = max(
    (p - q).abs().max().item() for p, q in zip(before, history[3], strict=True)
)
assert moved > 1e-2, f"weights moved by {moved}, less than the tolerance shows"
# Two more copies of the weights: the shared ones and the outer momentum.
momenta = [s["momentum_buffer"] for s in outer.state.values()]
copies = [*shared.parameters(), *momenta]
assert sum(t.nbytes for t in copies) == 2 * weights, "not two more copies"
assert all(p.grad is None for p in shared.parameters()), "a third copy stays"
dist.destroy_process_group()
