"""Run small steps of every arm of a benchmark, in a process that has the libraries imported."""

import importlib.util
import json
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
