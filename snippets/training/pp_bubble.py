# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "get_schedule_ops(name, gpus" = "get_schedule_ops(name.replace('ZBV', 'Interleaved'), gpus" }
# ///
"""Idle shares and live micro-batches of PyTorch's pipeline schedules, from PyTorch's own order of operations."""

from collections import Counter
from fractions import Fraction
from itertools import accumulate

from torch.distributed.pipelining._schedule_visualizer import get_schedule_ops

STAGES_PER_GPU = {
    "GPipe": 1,
    "1F1B": 1,
    "Interleaved1F1B": 2,
    "InterleavedZeroBubble": 2,
    "ZBVZeroBubble": 2,
}
# A stage's forward pass takes 1, input gradients 1 and weight gradients 1; messages take no time.
COSTS = {"F": 1, "B": 2, "I": 1, "W": 1}


# --8<-- [start:simulate]
def simulate(name: str, gpus: int, micro_batches: int) -> tuple[Fraction, list]:
    """Return the idle share of the GPUs, and the most micro-batches that each holds.

    An operation starts as soon as its GPU is free and its inputs exist.
    """
    each = STAGES_PER_GPU[name]
    orders = [
        operations(order)
        for order in get_schedule_ops(name, gpus, micro_batches, each)
    ]
    ends, free = {}, [0] * gpus
    queues = [list(order) for order in orders]
    while any(queues):
        before = len(ends)
        for gpu, queue in enumerate(queues):
            while queue and all(
                need in ends for need in needs(*queue[0], gpus * each)
            ):
                kind, stage, micro_batch = op = queue.pop(0)
                ready = [ends[need] for need in needs(*op, gpus * each)]
                free[gpu] = ends[op] = max([free[gpu], *ready]) + COSTS[kind]
                if kind == "B":  # a full backward pass includes the input gradients
                    ends["I", stage, micro_batch] = free[gpu]
        assert len(ends) > before, f"{name} waits for itself"
    busy = 3 * each * micro_batches
    return 1 - Fraction(busy, max(free)), [held(order) / each for order in orders]


def operations(order: list) -> list:
    """Return kind, stage and micro-batch of each operation; a stage takes micro-batches in turn."""
    count, found = Counter(), []
    for op in order:
        if op and (kind := op.computation_type.value) in COSTS:
            found.append((kind, op.stage_index, count[kind, op.stage_index]))
            count[kind, op.stage_index] += 1
    return found


def needs(kind: str, stage: int, micro_batch: int, stages: int) -> list:
    """Return the operations whose results an operation needs."""
    if kind == "F":
        return [("F", stage - 1, micro_batch)] if stage else []
    if kind == "W":
        return [("I", stage, micro_batch)]
    later = [("I", stage + 1, micro_batch)] if stage + 1 < stages else []
    return [("F", stage, micro_batch), *later]


def held(order: list) -> int:
    """Return the most micro-batches between their forward and the end of their backward pass, over all stages."""
    frees = "W" if any(op[0] == "W" for op in order) else "B"
    changes = [(kind == "F") - (kind == frees) for kind, _, _ in order]
    return max(accumulate(changes))


# --8<-- [end:simulate]

p = 4
for name in STAGES_PER_GPU:
    shares = " ".join(
        f"{float(simulate(name, p, m)[0]):.1%}" for m in (4, 8, 16, 32)
    )
    live = " ".join(f"{x:g}" for x in simulate(name, p, 8)[1])
    print(
        f"{name}: idle {shares} with 4, 8, 16, 32 micro-batches; holds {live} of 8"
    )

# The formulas hold for 2 to 8 GPUs, and ZBV's only from 2p micro-batches on.
for p in (2, 4, 8):
    for m in (p, 2 * p, 4 * p, 8 * p):
        idle = {name: simulate(name, p, m)[0] for name in STAGES_PER_GPU}
        plain = Fraction(p - 1, m + p - 1)
        assert idle["GPipe"] == idle["1F1B"] == plain, (p, m, idle)
        assert idle["Interleaved1F1B"] == Fraction(p - 1, 2 * m + p - 1), (
            p,
            m,
            idle,
        )
        assert idle["InterleavedZeroBubble"] == Fraction(p - 1, 6 * m + p - 1), (
            p,
            m,
            idle,
        )
        formula = Fraction(p - 1, 6 * m + p - 1)
        assert (idle["ZBVZeroBubble"] == formula) == (m > p), (p, m, idle)
        assert simulate("GPipe", p, m)[1] == [m] * p
        assert simulate("1F1B", p, m)[1] == [*range(p, 0, -1)]
# Live micro-batches of the others on 4 GPUs, of 8: a stage's counts half where a GPU has two.
for name, live in {
    "Interleaved1F1B": [5.5, 4.5, 3.5, 2.5],
    "InterleavedZeroBubble": [4, 4, 4, 4],
    "ZBVZeroBubble": [4, 4, 4, 4],
}.items():
    assert simulate(name, 4, 8)[1] == live, (name, simulate(name, 4, 8)[1])
