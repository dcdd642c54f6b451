"""Test benchmark runs with several ranks: what is counted and merged, and ranks that die, hang or raise."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import os
import signal
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

ARMS = ("all kinds", "coalesced", "sharded", "dies", "hangs", "raises", "quiet")
N = 1024  # bytes of a rank's share


def every_kind(ranks):
    rank = dist.get_rank()
    share, whole = torch.full((N // 4,), float(rank)), torch.zeros(ranks * N // 4)
    dist.all_reduce(whole)
    dist.all_gather_into_tensor(whole, share)
    dist.all_gather([torch.empty_like(share) for _ in range(ranks)], share)
    dist.reduce_scatter_tensor(share, whole)
    dist.broadcast(whole, 0)
    dist.all_to_all_single(torch.empty_like(whole), whole)
    splits = [N // 4 * 2 if to == rank else 0 for to in range(ranks)]  # everything stays here
    dist.all_to_all_single(torch.empty(N // 2), torch.empty(N // 2), splits, splits)
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    operations = [dist.P2POp(dist.isend, share, right), dist.P2POp(dist.irecv, torch.empty_like(share), left)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()


def prepare(arm, *, ranks, device="cpu", seed=0):
    kept = torch.ones(1000 * (1 + dist.get_rank()))

    def step():
        if dist.get_rank() == 1 and arm == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if dist.get_rank() == 1 and arm == "hangs":
            time.sleep(60)
        if dist.get_rank() == 1 and arm == "raises":
            raise ValueError("no such layer")
        if arm == "all kinds":
            every_kind(ranks)
        elif arm == "coalesced":
            with dist._coalescing_manager():
                for _ in range(3):
                    dist.all_reduce(torch.ones(N // 4))
        elif arm == "sharded":  # a product of shards whose sum is reduced below the operation
            mesh = init_device_mesh(device, (ranks,))
            left = distribute_tensor(torch.ones(8, 256), mesh, [Shard(1)])
            right = distribute_tensor(torch.ones(256, N // 32), mesh, [Shard(0)])
            (left @ right).full_tensor()
        elif arm != "quiet":
            dist.barrier()
        return float(kept.clone().sum())

    return step
"""


DRIVER = """
import json, sys
from pathlib import Path
from headroom.execution.isolation import ForkServer
from headroom.execution.measurement import launcher
script, requests = Path(sys.argv[1]), json.loads(sys.argv[2])
found = []
with ForkServer({"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}) as server:
    for request in requests:
        try:
            found.append(launcher(server.run)(script, request))
        except Exception as error:
            found.append({"error": f"{type(error).__name__}: {error}"})
print(json.dumps(found))
"""
METRICS = ["bytes_sent", "collectives", "wire_bytes", "peak_allocated"]
RUNS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "two": ("all kinds", 2, {}),
    "four": ("all kinds", 4, {}),
    "coalesced": ("coalesced", 2, {}),
    "sharded": ("sharded", 2, {}),
    "quiet": ("quiet", 2, {}),
    "dies": ("dies", 2, {"patience": 3}),
    "hangs": ("hangs", 2, {"patience": 3}),
    "raises": ("raises", 2, {}),
    "timed": ("quiet", 1000, {"metrics": ["step_time"]}),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report or the error of each run; another process makes them, so that this one imports no torch."""
    script = tmp_path_factory.mktemp("ranks") / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    base = {"seed": 1, "device": "cpu", "timed_steps": 1, "inspect": True, "metrics": METRICS}
    requests = [{**base, "arm": arm, "point": {"ranks": ranks}, **more} for arm, ranks, more in RUNS.values()]
    command = [sys.executable, "-c", DRIVER, str(script), json.dumps(requests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(RUNS, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize(("name", "ranks"), [("two", 2), ("four", 4)])
def test_bytes_of_every_kind_follow_the_ring_algorithm(runs: dict[str, Any], name: str, ranks: int) -> None:
    """In bytes of a share: all-reduce 2(N−1), gathers and scatters N−1, broadcast and all-to-all (N−1), a send 1."""
    found = runs[name]["samples"]
    shares = 2 * (ranks - 1) + 5 * (ranks - 1) + 1
    assert found["bytes_sent"] == [pytest.approx(1024 * shares)]
    assert found["collectives"] == [8.0]


def test_coalesced_collectives_are_counted_with_all_tensors(runs: dict[str, Any]) -> None:
    found = runs["coalesced"]["samples"]
    assert found["bytes_sent"] == [3 * 1024.0]


def test_collectives_of_distributed_tensors_are_counted(runs: dict[str, Any]) -> None:
    """Two scatters of 4,096 and 16,384 numbers, of which the root sends half, and an all-reduce of 256."""
    found = runs["sharded"]["samples"]
    kinds = {"scatter": 4 * (8 * 256 + 256 * 32) / 2 / 2, "all_reduce": 4 * 8 * 32}
    assert found["bytes_sent"] == [pytest.approx(sum(kinds.values()))]


def test_step_without_collectives_sends_nothing_but_the_barriers(runs: dict[str, Any]) -> None:
    found = runs["quiet"]["samples"]
    assert (found["bytes_sent"], found["collectives"]) == ([0.0], [0.0])
    assert found.get("wire_bytes", [0.0])[0] < 10_000


def test_memory_is_the_maximum_and_the_output_the_mean_over_ranks(runs: dict[str, Any]) -> None:
    """Rank 1 holds 2,000 numbers and a copy of them."""
    found = runs["quiet"]
    assert 16_000 <= found["samples"]["peak_allocated"][0] < 20_000
    assert found["output"] == 1500.0
    assert len(found["work_sha256"]) == 64


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        ("dies", "rank 1 of 2 (was killed by signal 9|died; another rank lost the connection to it)"),
        ("hangs", "rank 1 of 2 did not answer for 3 s; the other ranks waited in a collective"),
    ],
)
def test_lost_rank_ends_the_session_and_is_named(runs: dict[str, Any], arm: str, message: str) -> None:
    assert re.fullmatch(f"RanksLostError: {message}; the session ends here", runs[arm]["error"])


def test_error_of_a_rank_is_a_failed_run(runs: dict[str, Any]) -> None:
    assert runs["raises"]["error"].startswith("RunFailedError")
    assert "rank 1: ValueError: no such layer" in runs["raises"]["error"]


def test_times_need_a_core_per_rank(runs: dict[str, Any]) -> None:
    assert "cores share them, so their step time says nothing" in runs["timed"]["error"]


def test_collective_of_an_unknown_kind_is_refused() -> None:
    script = "from headroom.execution.collectives import kind_of\n"
    script += (
        "print([kind_of(name) for name in ('allgather_into_tensor_coalesced', 'reduce_scatter_tensor', 'isend')])\n"
    )
    script += "kind_of('shout')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "['all_gather', 'reduce_scatter', 'send']", done.stderr
    assert "ValueError: the bytes of the collective `shout` are not counted" in done.stderr


LOOPBACK = "    lo: 10 1 0 0 0 0 0 0 777 1 0 0 0 0 0 0\n"
CABLE = " cable: 20 1 0 0 0 0 0 0 888 1 0 0 0 0 0 0\n"


def test_sent_bytes_are_those_of_loopback_or_of_the_cable(tmp_path: Path) -> None:
    """With other devices, other programs may use them."""
    tables = LOOPBACK, LOOPBACK + CABLE, LOOPBACK + CABLE.replace("cable", " eth0"), CABLE
    for number, table in enumerate(tables):
        (tmp_path / str(number)).write_text("Inter-|   Receive\n face |bytes\n" + table, encoding="ascii")
    script = "import json, pathlib, sys\nfrom headroom.execution.collectives import sent_bytes\n"
    script += "print(json.dumps([sent_bytes(pathlib.Path(sys.argv[1], str(n))) for n in range(4)]))"
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[777, False], [888, True], None, None]
