"""Run one arm of a benchmark at one point, and measure its time or memory; executed in the child process.

Every run has the same order: a first step, whose output is recorded; a second step with memory tracing, if memory is
measured; the timed steps; in a run with several ranks, a step whose collectives are counted; and a last step under
inspection (a hash of the operations, and the FLOPs of the matmuls). So no timed step includes the cost of an
instrument, and memory is measured when the optimizer states exist. The inspection comes last because torch.compile
never compiles a function that it first sees under inspection.
"""

import hashlib
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from headroom.execution.collectives import COMMUNICATION_METRICS, sent_by
from headroom.io.atomic_write import write_atomic

MEMORY_METRICS = ("saved_for_backward", "peak_allocated", "peak_reserved")
_MARK = "headroom: "


def run(script: str, request: Mapping[str, Any], result: str) -> None:
    """Run one arm of a benchmark script and write the measurements, as JSON, to the path ``result``.

    Args:
        script: path of the benchmark.
        request: ``arm``, ``point``, ``seed``, ``device``, ``metrics``, ``timed_steps``, and whether to ``inspect``.
        result: path of the file to write; it is written atomically, and only after everything has succeeded.
    """
    write_atomic(Path(result), json.dumps(measure(script, request)))


def measure(script: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run one arm of a benchmark script in this process, and return the measurements; ``run`` has the arguments."""
    benchmark = _load(Path(script))
    arm, point, metrics = request["arm"], request["point"], request["metrics"]
    device = str(request["device"])
    meter = MemoryMeter(device) if any(name in MEMORY_METRICS for name in metrics) else None
    began = time.perf_counter()
    with meter or nullcontext():
        step = benchmark.prepare(arm, device=device, seed=request["seed"], **point)
        first, output = _first_step(step, device)
        if meter:
            with meter.measuring():
                step()
    took = time.perf_counter() - began
    samples: dict[str, list[float]] = {}
    if meter:
        found = meter.read()
        samples = {name: [found[name]] for name in metrics if name in found}
    if "first_step_time" in metrics:
        samples["first_step_time"] = [first]
    if {"step_time", "throughput"} & set(metrics):
        times = _time_steps(step, device, request["timed_steps"])
        took += sum(times)
        samples["step_time"] = times
        if "throughput" in metrics:
            samples["throughput"] = [benchmark.tokens(arm, **point) / seconds for seconds in times]
    if set(COMMUNICATION_METRICS) & set(metrics):
        counted = sent_by(step)
        samples |= {name: [counted[name]] for name in metrics if name in counted}
    work, flops = _inspect(step) if request["inspect"] else (None, None)
    return {"samples": samples, "output": output, "work_sha256": work, "flops": flops, "benchmark_seconds": took}


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python script; give the file of a benchmark")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _first_step(step: Callable[[], float], device: str) -> tuple[float, float]:
    """Return the seconds and the output of the first step."""
    _synchronise(device)
    start = time.perf_counter()
    output = float(step())
    _synchronise(device)
    return time.perf_counter() - start, output


def _time_steps(step: Callable[[], float], device: str, count: int) -> list[float]:
    """Return the seconds of each timed step."""
    times = []
    for _ in range(count):
        _synchronise(device)
        start = time.perf_counter()
        step()
        _synchronise(device)
        times.append(time.perf_counter() - start)
    return times


class _Operations(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """A dispatch mode that counts the operations of a step by name, data types and shapes."""

    def __init__(self, graphs: int) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter({"compiled graphs": graphs})

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        tensors = (arg for arg in args if isinstance(arg, torch.Tensor))
        self.counts[f"{func} " + " ".join(f"{t.dtype}{list(t.shape)}" for t in tensors)] += 1
        return func(*args, **(kwargs or {}))

    def sha256(self) -> str:
        """Return a hash of the operations and their counts; their order does not count."""
        return hashlib.sha256(repr(sorted(self.counts.items())).encode()).hexdigest()


_Shape = Sequence[int]


def _widened(shape: _Shape, query: _Shape) -> _Shape:
    """Return the shape that keys or values have once each query head has its own."""
    return (*shape[:1], query[1], *shape[2:])


def _attention(query: _Shape, key: _Shape, value: _Shape, *_: Any, **__: Any) -> int:
    """Return the FLOPs of attention, also with fewer heads of keys and values; torch 2.11 refuses to count that."""
    found: int = sdpa_flop_count(query, _widened(key, query), _widened(value, query))
    return found


def _attention_backward(grad: _Shape, query: _Shape, key: _Shape, value: _Shape, *_: Any, **__: Any) -> int:
    """Return the FLOPs of its backward pass."""
    found: int = sdpa_backward_flop_count(grad, query, _widened(key, query), _widened(value, query))
    return found


_KERNELS = ("efficient", "flash", "cudnn")
_ATTENTION = {
    getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention{suffix}"): formula
    for kernel in _KERNELS
    for suffix, formula in (("", _attention), ("_backward", _attention_backward))
}


def _inspect(step: Callable[[], float]) -> tuple[str, float]:
    """Return a hash of the operations of a step, and the FLOPs of its matmuls.

    A compiled step runs its operations one by one under inspection, so its hash includes the number of graphs.
    """
    dynamo = sys.modules.get("torch._dynamo.utils")
    graphs = dynamo.counters["stats"]["unique_graphs"] if dynamo else 0
    operations, flops = _Operations(graphs), FlopCounterMode(display=False, custom_mapping=_ATTENTION)
    with operations, flops:
        step()
    return operations.sha256(), float(flops.get_total_flops())


class MemoryMeter:
    """Measures the memory of a step: the saved activations when the backward pass starts, and the peak.

    On CUDA the allocator keeps these counts. On a CPU the profiler traces every allocation, starting before the model
    exists, and the traced sizes are summed. The trace slows the step down, so no step is timed under it.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._marks: dict[
            str, float
        ] = {}  # on CUDA, the allocated bytes at each mark; on a CPU the trace has the marks
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
    def measuring(self) -> Iterator[None]:
        """Mark the start and the end of the step, and the start of its backward pass."""
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
        """Record this moment, unless a mark of this name exists.

        On a CPU the mark goes into the trace itself. The trace converts the processor's counter to time, which can
        differ widely from Python's clock when other work loads the cores.
        """
        if self._device == "cuda":
            self._marks.setdefault(name, float(torch.cuda.memory_allocated()))
        else:
            with torch.profiler.record_function(_MARK + name):
                pass

    def read(self) -> dict[str, float]:
        """Return the measured bytes by metric."""
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
        """Return the bytes allocated between the start of the step and its backward pass, if it has one."""
        return {"saved_for_backward": float(held["backward"] - held["start"])} if "backward" in held else {}
