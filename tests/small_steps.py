"""Run small steps of every arm of a benchmark, in a process that has the libraries imported."""

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def take(path: str, constants: Mapping[str, Any], point: Mapping[str, Any], result: str) -> None:
    """Run two steps of each arm, with these constants in place of its own, and write their losses as JSON.

    Raises:
        AssertionError: a constant has another type, or an arm gives another loss with the same seed.
    """
    spec = importlib.util.spec_from_file_location("benchmark", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in constants.items():
        assert type(getattr(module, name)) is type(value), name
        setattr(module, name, value)
    losses = {}
    for arm in module.ARMS:
        step = module.prepare(arm, device="cpu", seed=3, **point)
        losses[arm] = [step(), step()]
        again = module.prepare(arm, device="cpu", seed=3, **point)()
        assert again == losses[arm][0], (arm, again)
    other = module.prepare(module.ARMS[0], device="cpu", seed=4, **point)()
    Path(result).write_text(json.dumps({"losses": losses, "other": other}), encoding="utf-8")


def take_in_ranks(path: str, constants: Mapping[str, Any], point: Mapping[str, Any], result: str) -> None:
    """Do the same with ``ranks`` processes under torchrun, and write the means of their losses."""
    from torch.distributed.run import main  # noqa: PLC0415 - tests import this module without torch

    ranks = point["ranks"]
    options = ["--standalone", "--start-method", "fork", "--nproc-per-node", str(ranks), "--run-path", __file__]
    main([*options, path, json.dumps(constants), json.dumps(point), result])
    found = [json.loads(Path(f"{result}.{rank}").read_text("utf-8")) for rank in range(ranks)]
    losses = {
        arm: [sum(steps) / ranks for steps in zip(*(rank["losses"][arm] for rank in found), strict=True)]
        for arm in found[0]["losses"]
    }
    other = sum(rank["other"] for rank in found) / ranks
    Path(result).write_text(json.dumps({"losses": losses, "other": other}), encoding="utf-8")


def _take_in_this_rank(path: str, constants: str, point: str, result: str) -> None:
    import torch.distributed as dist  # noqa: PLC0415

    dist.init_process_group()
    take(path, json.loads(constants), json.loads(point), f"{result}.{dist.get_rank()}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    _take_in_this_rank(*sys.argv[1:5])
