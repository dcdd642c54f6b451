"""One run of a benchmark, inside a process of its own: one arm at one point, timed or weighed.

Every run goes the same way, whatever is asked: a first step, whose output counts; a second step under the allocator's
eye where memory is asked for; the timed steps; and a last one under inspection (which operations, how many products).
So a time never carries the cost of an instrument, and memory is that of a step whose optimizer states exist. The
inspection comes last because torch.compile gives up for good on a function that it first meets under one.
"""

import hashlib
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from headroom.io.atomic_write import write_atomic

MEMORY_METRICS = ("saved_for_backward", "peak_allocated", "peak_reserved")
_MARK = "headroom: "


def run(script: str, request: Mapping[str, Any], result: str) -> None:
    """Run one arm of a benchmark script and write what was measured, as JSON, to the path ``result``.

    Args:
        script: path of the benchmark.
        request: ``arm``, ``point``, ``seed``, ``device``, ``metrics``, ``timed_steps``, and whether to ``inspect``.
        result: path of the file to write; it is written in one piece, and only when everything has succeeded.
    """
    benchmark = _load(Path(script))
    arm, point, metrics = request["arm"], request["point"], request["metrics"]
    device = str(request["device"])
    weighed = any(name in MEMORY_METRICS for name in metrics)
    scale = MemoryScale(device) if weighed else None
    began = time.perf_counter()
    with scale or nullcontext():
        step = benchmark.prepare(arm, device=device, seed=request["seed"], **point)
        first, output = _first(step, device)
        if scale:
            with scale.weighing():
                step()
    took = time.perf_counter() - began
    samples: dict[str, list[float]] = {}
    if scale:
        found = scale.read()
        samples = {name: [found[name]] for name in metrics if name in found}
    if "first_step_time" in metrics:
        samples["first_step_time"] = [first]
    if {"step_time", "throughput"} & set(metrics):
        times = _timed(step, device, request["timed_steps"])
        took += sum(times)
        samples["step_time"] = times
        if "throughput" in metrics:
            samples["throughput"] = [benchmark.tokens(arm, **point) / seconds for seconds in times]
    work, flops = _inspected(step) if request["inspect"] else (None, None)
    report = {"samples": samples, "output": output, "work_sha256": work, "flops": flops, "benchmark_seconds": took}
    write_atomic(Path(result), json.dumps(report))


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python script")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _first(step: Callable[[], float], device: str) -> tuple[float, float]:
    """Seconds of the first step, and what it gave."""
    _synchronise(device)
    start = time.perf_counter()
    output = float(step())
    _synchronise(device)
    return time.perf_counter() - start, output


def _timed(step: Callable[[], float], device: str, count: int) -> list[float]:
    """Seconds of each timed step."""
    times = []
    for _ in range(count):
        _synchronise(device)
        start = time.perf_counter()
        step()
        _synchronise(device)
        times.append(time.perf_counter() - start)
    return times


class _Operations(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Counts the operations of a step by name, data types and shapes."""

    def __init__(self, graphs: int) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter({"compiled graphs": graphs})

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        tensors = (arg for arg in args if isinstance(arg, torch.Tensor))
        self.counts[f"{func} " + " ".join(f"{t.dtype}{list(t.shape)}" for t in tensors)] += 1
        return func(*args, **(kwargs or {}))

    def sha256(self) -> str:
        """A hash of what was done, the order aside."""
        return hashlib.sha256(repr(sorted(self.counts.items())).encode()).hexdigest()


def _inspected(step: Callable[[], float]) -> tuple[str, float]:
    """A hash of what a step does, and the floating-point operations of its products.

    A compiled step runs its operations one by one under inspection, so its hash also says how many graphs there are.
    """
    dynamo = sys.modules.get("torch._dynamo.utils")
    graphs = dynamo.counters["stats"]["unique_graphs"] if dynamo else 0
    operations, flops = _Operations(graphs), FlopCounterMode(display=False)
    with operations, flops:
        step()
    return operations.sha256(), float(flops.get_total_flops())


class MemoryScale:
    """Weighs a step: what the forward pass leaves allocated when backward starts, and the peak.

    On CUDA the allocator counts. On a CPU it does not, so its every allocation is traced from before the model exists,
    and summed up; the trace slows the step down, which is why nothing is timed meanwhile.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._marks: dict[str, float] = {}  # on CUDA, the bytes allocated at each; on a CPU they stand in the trace
        self._trace: Any = None
        if device == "cpu":
            self._trace = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, acc_events=True
            )

    def __enter__(self) -> Self:
        if self._trace:
            self._trace.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._trace:
            self._trace.__exit__(*error)

    @contextmanager
    def weighing(self) -> Iterator[None]:
        """Mark the beginning of the step, and the moment in which its backward pass starts."""
        backward = torch.Tensor.backward

        def marked(*args: Any, **kwargs: Any) -> Any:
            self._mark("backward")
            return backward(*args, **kwargs)

        if self._device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        self._mark("start")
        torch.Tensor.backward = marked
        try:
            yield
        finally:
            torch.Tensor.backward = backward
            self._mark("end")

    def _mark(self, name: str) -> None:
        """Remember this moment, where it is the first of its name.

        A clock of our own would not do for the trace: it converts the processor's counter to time, and may be far off
        when other work keeps the cores busy.
        """
        if self._device == "cuda":
            self._marks.setdefault(name, float(torch.cuda.memory_allocated()))
        else:
            with torch.profiler.record_function(_MARK + name):
                pass

    def read(self) -> dict[str, float]:
        """Bytes by metric."""
        if self._device == "cuda":
            return {
                **self._saved(self._marks),
                "peak_allocated": float(torch.cuda.max_memory_allocated()),
                "peak_reserved": float(torch.cuda.max_memory_reserved()),
            }
        events = sorted((e.start_ns(), e.name(), e.nbytes()) for e in self._trace.profiler.kineto_results.events())
        held, peak, at = 0, 0, dict[str, float]()
        for _, name, change in events:
            if name.startswith(_MARK):
                at.setdefault(name.removeprefix(_MARK), held)
            elif name == "[memory]":
                held += change
            if "start" in at and "end" not in at:
                peak = max(peak, held)
        return {**self._saved(at), "peak_allocated": float(peak)}

    @staticmethod
    def _saved(held: Mapping[str, float]) -> dict[str, float]:
        """What was kept when backward started, of what was held at each mark. An evaluation has no backward."""
        return {"saved_for_backward": float(held["backward"] - held["start"])} if "backward" in held else {}
