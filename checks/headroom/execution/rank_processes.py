"""Run one arm of a benchmark in several ranks under torchrun, and merge what they measured.

torchrun's agent forks the ranks from a process that has imported the libraries. Each rank writes a report, or its
error, into a folder; this process merges the reports. A rank that dies or hangs ends the run with its number.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from headroom.execution import benchmark_run, script_child
from headroom.execution.collectives import COMMUNICATION_METRICS
from headroom.io.atomic_write import write_atomic

PATIENCE_SECONDS = 120.0
"""How long a rank waits for another one in a collective."""
_RATES = ("throughput",)


def run(script: str, request: Mapping[str, Any], result: str) -> None:
    """Run one arm in ``request["point"]["ranks"]`` processes, and write the merged measurements to ``result``.

    If a rank dies or hangs, the file has only ``lost``, a sentence that names the rank.

    Args:
        script: path of the benchmark.
        request: as for ``benchmark_run.run``; ``patience`` seconds replace ``PATIENCE_SECONDS``.
        result: path of the file to write, in a folder of its own.

    Raises:
        RuntimeError: a rank raised an error, or a time is asked for and ranks share a core or a GPU.
    """
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError  # noqa: PLC0415 - slow to import
    from torch.distributed.run import main  # noqa: PLC0415

    count = int(request["point"]["ranks"])
    _check_room(request, count)
    folder = Path(result).parent / "ranks"
    folder.mkdir()
    (folder / "request").write_text(json.dumps(dict(request)), encoding="utf-8")
    os.environ["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"] = "1"  # a rank that hangs is killed at once
    options = ["--standalone", "--start-method", "fork", "--nproc-per-node", str(count), "--run-path", __file__]
    try:
        main([*options, script, str(folder)])
    except ChildFailedError as error:
        codes = {rank: failure.exitcode for rank, failure in error.failures.items()}
        if lost := _lost(folder, count, codes, request.get("patience", PATIENCE_SECONDS)):
            write_atomic(Path(result), json.dumps({"lost": lost}))
            return
        raise RuntimeError(_first_error(folder)) from None
    reports = [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(count)]
    write_atomic(Path(result), json.dumps(merged(reports)))


def _check_room(request: Mapping[str, Any], count: int) -> None:
    """Raise an error if a time is asked for, and ranks would share a core or a GPU."""
    timed = {"step_time", "first_step_time", "throughput"} & {*request["metrics"]}
    own = torch.cuda.device_count() if request["device"] == "cuda" else len(os.sched_getaffinity(0))
    if timed and own < count:
        what = "GPUs" if request["device"] == "cuda" else "cores"
        raise RuntimeError(
            f"{count} ranks on {own} {what} share them, so their step time says nothing; use more {what}"
        )


def _lost(folder: Path, count: int, codes: Mapping[int, int], patience: float) -> str | None:
    """Return which rank died or did not answer; None if the run ended by an error that a rank raised."""
    silent = [
        rank for rank in range(count) if not any((folder / f"{rank}.{end}").exists() for end in ("json", "error"))
    ]
    killed = [rank for rank in silent if codes.get(rank, 0) < 0]
    if killed:
        return f"rank {killed[0]} of {count} was killed by signal {-codes[killed[0]]}"
    errors = " ".join(path.read_text(encoding="utf-8") for path in folder.glob("*.error"))
    names = ", ".join(map(str, silent))
    if silent and "Timed out" in errors:
        return f"rank {names} of {count} did not answer for {patience:g} s; the other ranks waited in a collective"
    if silent and "Connection" in errors:
        return f"rank {names} of {count} died; another rank lost the connection to it"
    return None


def _first_error(folder: Path) -> str:
    """Return the error that a rank raised first, with the rank."""
    errors = sorted(folder.glob("*.error"), key=lambda path: path.stat().st_mtime_ns)
    return f"rank {errors[0].stem}: {errors[0].read_text(encoding='utf-8')}" if errors else "a rank ended early"


def merged(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the report of all ranks.

    Memory and times are the maximum over the ranks, rates the minimum, and communication the mean. The output is the
    mean, FLOPs are the sum, and the hash of the operations is one of all ranks.
    """
    names = [*reports[0]["samples"]]
    hashes = [report["work_sha256"] for report in reports]
    return {
        "samples": {name: _samples(name, [report["samples"][name] for report in reports]) for name in names},
        "output": sum(report["output"] for report in reports) / len(reports),
        "work_sha256": hashlib.sha256("".join(hashes).encode()).hexdigest() if all(hashes) else None,
        "flops": sum(report["flops"] for report in reports) if all(hashes) else None,
        "benchmark_seconds": max(report["benchmark_seconds"] for report in reports),
    }


def _samples(name: str, ranks: Sequence[Sequence[float]]) -> list[float]:
    steps = zip(*ranks, strict=True)
    if name in COMMUNICATION_METRICS:
        return [sum(step) / len(step) for step in steps]
    return [min(step) if name in _RATES else max(step) for step in steps]


def _rank(script: str, folder: Path) -> None:
    """Measure in this rank, and write the report or the error."""
    request = json.loads((folder / "request").read_text(encoding="utf-8"))
    rank = os.environ["RANK"]
    if request["device"] == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group(timeout=timedelta(seconds=request.get("patience", PATIENCE_SECONDS)))
    try:
        report = benchmark_run.measure(script, request)
    except Exception as error:
        write_atomic(folder / f"{rank}.error", f"{type(error).__name__}: {error}")
        raise
    write_atomic(folder / f"{rank}.json", json.dumps(report))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    script_child.reset_signals()
    _rank(sys.argv[1], Path(sys.argv[2]))
