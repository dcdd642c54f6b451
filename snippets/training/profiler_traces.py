# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11"]
#
# [tool.headroom]
# ablation = { "time.sleep(seconds)" = "pass" }
# ///
"""Three profiled loops on a CPU: one waits for its loader, one for Python, one for matmuls."""

import time
from itertools import pairwise

import torch
from torch.profiler import profile, record_function

weight = torch.randn(512, 512)
small = torch.randn(8, 8)


# --8<-- [start:loops]
def loader_bound(seconds: float = 0.1) -> None:
    """Every batch takes longer to load than to train on."""
    for _ in range(3):
        with record_function("loader"):
            time.sleep(seconds)  # reading and tokenizing
        for _ in range(2):
            weight @ weight


def launch_bound() -> None:
    """Every kernel is shorter than the Python code that calls it."""
    for _ in range(14):
        sum(range(20_000))  # Python between two calls
        small @ small


def compute_bound() -> None:
    """Long kernels follow each other; Python and the loader are ready in time."""
    with record_function("loader"):
        pass
    for _ in range(8):
        weight @ weight


# --8<-- [end:loops]

Span = tuple[float, float]


def spans(loop) -> dict[str, list[Span]]:
    """Profile a loop; return when the loader, Python and kernels are busy, in ms."""
    loop()  # what is done once
    with profile() as trace, record_function("whole"):
        loop()
    found = {"loader": [], "kernels": []}
    for event in sorted(trace.events(), key=lambda each: each.time_range.start):
        span = event.time_range.start / 1e3, event.time_range.end / 1e3
        if event.name == "whole":
            whole = span
        elif event.name == "loader":
            found["loader"].append(span)
        elif event.name == "aten::mm":
            found["kernels"].append(span)
    start, end = whole
    busy = sorted([(start, start), (end, end), *found["loader"], *found["kernels"]])
    found["python"] = [(a[1], b[0]) for a, b in pairwise(busy) if b[0] > a[1]]
    return {
        lane: [(a - start, b - start) for a, b in each]
        for lane, each in found.items()
    }


def share(lanes: dict[str, list[Span]], lane: str) -> float:
    """Share of the whole time in which a lane is busy."""
    end = max(b for each in lanes.values() for _, b in each)
    return sum(b - a for a, b in lanes[lane]) / end


traces = {}
for loop in (loader_bound, launch_bound, compute_bound):
    lanes = traces[loop.__name__.removesuffix("_bound")] = spans(loop)
for name, lanes in traces.items():
    end = max(b for each in lanes.values() for _, b in each)
    for lane, each in lanes.items():
        shown = [(a, b) for a, b in each if b - a > end / 2000] or ["-"]
        for span in shown:
            text = "-" if span == "-" else f"{span[0]:.3f} {span[1]:.3f}"
            print(f"{name} {lane}: {text}")

for name, lane in (
    ("loader", "loader"),
    ("launch", "python"),
    ("compute", "kernels"),
):
    busy = share(traces[name], lane)
    assert busy > 0.5, f"{lane} is busy for {busy:.0%} of the {name}-bound loop"
