"""Test the benchmark with a slow link: what two hosts send over the cable, and that the cable has its bandwidth."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "checks/benchmarks/slow_link_step.py"
NUMBERS = 12_589_824
"""Parameters of the model: two matrices of 1,024 × 768, four layers, and the last norm."""
ACTIVATIONS = 4 * 8 * 96 * 768
"""Bytes of the hidden states of all tokens."""
DRIVER = """
import json, sys
from pathlib import Path
from headroom.execution.isolation import QUIET, ForkServer
from headroom.execution.measurement import launcher
base = {"seed": 1, "device": "cpu", "timed_steps": 1, "inspect": False}
found = {}
with ForkServer(QUIET) as server:
    for arm, megabits, metrics in json.loads(sys.argv[2]):
        request = {**base, "arm": arm, "point": {"ranks": 2, "megabits": megabits}, "metrics": metrics}
        try:
            found[arm] = launcher(server.run)(Path(sys.argv[1]), request)
        except Exception as error:
            found[arm] = {"error": f"{type(error).__name__}: {error}"}
print(json.dumps(found))
"""
SENT = {
    "no exchange": 0,
    "DDP": 4 * NUMBERS,
    "ZeRO-1": 6 * NUMBERS,
    "FSDP2, not resharded after forward": 6 * NUMBERS,
    "FSDP2": 8 * NUMBERS,
    "tensor parallel": 16 * ACTIVATIONS,
}
"""Bytes that a rank sends over the cable with gloo, whose reduce-scatter sends as much as an all-reduce."""
MEGABITS = 400


@pytest.fixture(scope="module")
def runs() -> dict[str, Any]:
    """Return the report of each arm, or skip the test with the reason."""
    asked = [(arm, 4000, ["bytes_sent", "wire_bytes"]) for arm in SENT if arm != "DDP"]
    asked.append(("DDP", MEGABITS, ["bytes_sent", "step_time", "wire_bytes"]))
    command = [sys.executable, "-c", DRIVER, str(SCRIPT), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    errors = [each["error"] for each in found.values() if "error" in each]
    if any("network namespaces need root" in error or "2 ranks on 1 cores" in error for error in errors):
        pytest.skip(errors[0])
    assert not errors
    return found


@pytest.mark.slow
def test_each_arm_sends_its_bytes_over_the_cable(runs: dict[str, Any]) -> None:
    """All of them, and at most 5 percent more: headers, acknowledgements, packets that a loaded machine sends twice."""
    for arm, sent in SENT.items():
        assert sent <= runs[arm]["samples"]["wire_bytes"][0] <= 1.05 * sent + 10_000, arm


@pytest.mark.slow
def test_bytes_by_the_ring_algorithm_are_half_as_many_for_a_reduce_scatter(runs: dict[str, Any]) -> None:
    ring = {arm: report["samples"]["bytes_sent"][0] for arm, report in runs.items()}
    gloo = {"FSDP2": 6, "FSDP2, not resharded after forward": 4}
    for arm, sent in SENT.items():
        assert ring[arm] == pytest.approx(gloo[arm] * NUMBERS if arm in gloo else sent, rel=0.001), arm


@pytest.mark.slow
def test_all_arms_compute_the_same_loss(runs: dict[str, Any]) -> None:
    for report in runs.values():
        assert report["output"] == pytest.approx(runs["DDP"]["output"], rel=1e-4)


@pytest.mark.slow
def test_step_takes_as_long_as_the_cable_needs_for_its_bytes(runs: dict[str, Any]) -> None:
    """At least: how much longer depends on what else the machine does."""
    shortest = SENT["DDP"] * 8 / (MEGABITS * 1e6)
    assert runs["DDP"]["samples"]["step_time"][0] > 0.95 * shortest
