"""Pipeline schedules: orders agree with torch, and simulated idle shares and live micro-batches with formulas."""

import json
import subprocess
import sys
from itertools import pairwise

import pytest

from headroom.pictures import pipeline_orders

SHAPES = [(p, m) for p in (2, 3, 4) for m in (p, 2 * p, 4 * p)]


@pytest.mark.parametrize(("p", "m"), SHAPES)
@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved"])
def test_idle_share_of_schedules_is_the_formula(schedule: str, p: int, m: int) -> None:
    """The bubble is (p - 1) / (v m + p - 1), with v stages per GPU."""
    stages = 2 if schedule == "interleaved" else 1
    found = pipeline_orders.simulate(schedule, p, m).idle
    assert found == pytest.approx((p - 1) / (stages * m + p - 1))


@pytest.mark.parametrize(("p", "m"), [(p, m) for p, m in SHAPES if m >= 2 * p])
def test_idle_share_of_zbv_is_the_formula_from_twice_as_many_micro_batches_as_gpus(p: int, m: int) -> None:
    """The bubble is (p - 1) / (3 v m + p - 1) with v = 2; with fewer micro-batches it is larger."""
    assert pipeline_orders.simulate("zbv", p, m).idle == pytest.approx((p - 1) / (6 * m + p - 1))


def test_zbv_is_idle_for_longer_than_its_formula_with_one_micro_batch_per_gpu() -> None:
    """With 4 GPUs and 4 micro-batches, a fifth of the time is idle."""
    found = pipeline_orders.simulate("zbv", 4, 4).idle
    assert found == pytest.approx(0.2)
    assert found > 3 / (6 * 4 + 3)


@pytest.mark.parametrize(
    ("schedule", "peaks"),
    [("gpipe", [8, 8, 8, 8]), ("1f1b", [4, 3, 2, 1]), ("interleaved", [5.5, 4.5, 3.5, 2.5]), ("zbv", [4, 4, 4, 4])],
)
def test_live_micro_batches_of_four_gpus_and_eight_micro_batches(schedule: str, peaks: list[float]) -> None:
    """GPipe holds all micro-batches, 1F1B at most one per GPU that follows."""
    assert pipeline_orders.simulate(schedule, 4, 8).peaks() == peaks


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved", "zbv"])
def test_each_schedule_runs_every_pass_once_and_in_order(schedule: str) -> None:
    """A GPU runs one operation at a time, a forward pass follows the one before, a backward pass its forward."""
    run = pipeline_orders.simulate(schedule, 4, 8)
    stages = 4 * run.chunks
    halves = ("F", "I", "W") if schedule == "zbv" else ("F", "B")
    assert set(run.spans) == {(kind, stage, micro) for kind in halves for stage in range(stages) for micro in range(8)}
    for order in run.orders:
        assert all(run.spans[a][1] <= run.spans[b][0] for a, b in pairwise(order))
    for kind, stage, micro in run.spans:
        if kind == "F" and stage:
            before = pipeline_orders.Operation("F", stage - 1, micro)
        elif kind == "F":
            continue
        else:
            before = pipeline_orders.Operation("F", stage, micro)
        assert run.spans[before][1] <= run.spans[pipeline_orders.Operation(kind, stage, micro)][0]


# The orders that torch computes, without stages and without processes.
TORCH = """
import json
from types import SimpleNamespace
from torch.distributed.pipelining import schedules as s
SHORT = {"F": "F", "FULL_BACKWARD": "B", "BACKWARD_INPUT": "I", "BACKWARD_WEIGHT": "W", "FORWARD": "F"}
def flat(actions):
    named = [(SHORT.get(a.computation_type.name), a.stage_index, a.microbatch_index) for a in actions if a is not None]
    return [each for each in named if each[0]]
def single(cls, p, m):
    found = cls._get_pipeline_order(SimpleNamespace(_num_stages=p, _n_microbatches=m))
    return [flat(found[rank]) for rank in range(p)]
def multi(cls, p, m):
    me = SimpleNamespace(pp_group_size=p, _n_microbatches=m, num_stages=2 * p, n_local_stages=2)
    me.microbatches_per_round = m // max(1, m // p)
    return [flat(cls._calculate_single_rank_operations(me, rank)) for rank in range(p)]
print(json.dumps({f"{p} {m}": {
    "gpipe": single(s.ScheduleGPipe, p, m),
    "1f1b": single(s.Schedule1F1B, p, m)[:-1],
    "interleaved": multi(s.ScheduleInterleaved1F1B, p, m),
    "zbv": multi(s.ScheduleZBVZeroBubble, p, m),
} for p, m in %s}))
"""


def test_orders_of_schedules_are_those_of_torch() -> None:
    """All GPUs agree; of 1F1B all but the last one, for which torch's listing counts micro-batches from 1."""
    code = TORCH % [list(shape) for shape in SHAPES]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for shape, schedules in json.loads(done.stdout).items():
        p, m = map(int, shape.split())
        for schedule, ranks in schedules.items():
            assert len(ranks) >= p - 1
            own = pipeline_orders.orders(schedule, p, m)[: len(ranks)]
            assert [[list(each) for each in order] for order in own] == ranks, (schedule, p, m)
