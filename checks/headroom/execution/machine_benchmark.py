"""Measure a device's matmul FLOP/s, memory bandwidth, links and kernel-launch time; executed in the child process.

Each figure has ``SAMPLES`` samples. A sample is the mean over enough consecutive calls for an exact time. Operands are
random, because a matmul of zeros draws less power and so runs at a higher clock rate.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from headroom.io.atomic_write import write_atomic

SAMPLES = 7
SAMPLE_SECONDS = 0.2
PILOT_SECONDS = 0.5  # no larger matmul is tried after one that takes longer
PILOTS = 3
SIZES = {"cpu": (512, 1024, 2048), "cuda": (2048, 4096, 8192, 16384)}
ARRAY_BYTES = {"cpu": 1 << 29, "cuda": 1 << 31}  # far larger than any cache
LAUNCHES = 1000
LINK_BYTES = 1 << 28

Call = Callable[[], object]


def run(request: Mapping[str, Any], result: str) -> None:
    """Measure a device and write the figures, as JSON, to the path ``result``.

    Args:
        request: ``device``, and its ``memory_bytes``, which limit the size of the arrays.
        result: path of the file to write; it is written atomically, and only after everything has succeeded.
    """
    device = str(request["device"])
    with torch.inference_mode():
        matmuls, unsupported = _matmuls(device)
        report = {
            "products": matmuls,
            "not_measured": unsupported,
            "bandwidth": _bandwidth(device, int(request["memory_bytes"])),
            "launch": _launch(device),
            "links": _links(device),
        }
    write_atomic(Path(result), json.dumps(report))


def _matmuls(device: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return matmul FLOP/s by number format, and the reason for each format without a figure."""
    found: dict[str, Any] = {}
    unsupported = {} if device == "cuda" else {"tf32": "a format of CUDA devices"}
    for name, make in _FORMATS.items():
        if name in unsupported:
            continue
        try:
            size = _fastest(make, device)
            call = make(size, device)
            rates = [2 * size**3 / seconds for seconds in _sampled(call, device)]
        except (RuntimeError, NotImplementedError, ValueError) as error:
            unsupported[name] = (" ".join(str(error).split()) or type(error).__name__)[:200]
        else:
            found[name] = {"of": f"two matrices of {size} × {size}", "samples": rates}
    return found, unsupported


def _fastest(make: Callable[[int, str], Call], device: str) -> int:
    """Return the matrix size with the highest FLOP/s in this format, among sizes that do not take too long."""
    rates: dict[int, float] = {}
    for size in SIZES[device]:
        call = make(size, device)
        _seconds(call, 1, device)  # the first call selects a kernel, and may compile it
        seconds = min(_seconds(call, 1, device) for _ in range(PILOTS))
        rates[size] = size**3 / seconds
        if seconds > PILOT_SECONDS:
            break
    return max(rates, key=lambda size: rates[size])


def _floats(dtype: torch.dtype, precision: str = "ieee") -> Callable[[int, str], Call]:
    """Return a maker of floating-point matmuls; ``precision`` is CUDA's fp32 precision (``ieee`` or ``tf32``)."""

    def make(size: int, device: str) -> Call:
        torch.backends.cuda.matmul.fp32_precision = precision
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty(size, size, device=device, dtype=dtype)
        return lambda: torch.mm(a, b, out=out)

    return make


def _int8(size: int, device: str) -> Call:
    a, b = (torch.randint(-128, 128, (size, size), device=device, dtype=torch.int8) for _ in range(2))
    return lambda: torch._int_mm(a, b.t())  # noqa: SLF001 - torch has no public int8 matmul


def _fp8(size: int, device: str) -> Call:
    a, b = (torch.randn(size, size, device=device).to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(  # noqa: SLF001 - the public function is newer than the oldest supported torch
        a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=device == "cuda"
    )


_FORMATS: Mapping[str, Callable[[int, str], Call]] = {
    "fp32": _floats(torch.float32),
    "tf32": _floats(torch.float32, "tf32"),
    "bf16": _floats(torch.bfloat16),
    "fp16": _floats(torch.float16),
    "int8": _int8,
    "fp8": _fp8,
}


def _bandwidth(device: str, memory_bytes: int) -> dict[str, Any]:
    """Return bytes per second, read plus written, without the reads of a CPU's write-allocate."""
    size = min(ARRAY_BYTES[device], memory_bytes // 32)
    a, b, c = (torch.randn(size // 4, device=device) for _ in range(3))
    calls: dict[str, tuple[Call, int]] = {
        "copy": (lambda: a.copy_(b), 2),
        "triad": (lambda: torch.add(b, c, alpha=0.5, out=a), 3),
    }
    return {
        name: {
            "of": f"{arrays} arrays of {size // 4 * 4 / 2**20:g} MiB",
            "samples": [arrays * (size // 4 * 4) / seconds for seconds in _sampled(call, device)],
        }
        for name, (call, arrays) in calls.items()
    }


def _launch(device: str) -> dict[str, Any]:
    """Return the seconds per call of a tiny operation, called many times in a row; on a GPU each launches a kernel."""
    tiny = torch.zeros(1, device=device)

    def call() -> object:
        return tiny.add_(1.0)

    _seconds(call, LAUNCHES, device)
    samples = [_seconds(call, LAUNCHES, device) for _ in range(SAMPLES)]
    return {"of": f"{LAUNCHES} additions of one number in a row", "samples": samples}


def _links(device: str) -> dict[str, Any]:
    """Return bytes per second between host and GPU, and of an all-reduce if there are several GPUs; none on a CPU."""
    if device != "cuda":
        return {}
    host = torch.empty(LINK_BYTES, dtype=torch.uint8, pin_memory=True)
    parts = [torch.ones(LINK_BYTES // 4, device=f"cuda:{gpu}") for gpu in range(torch.cuda.device_count())]
    there, gpus = parts[0].view(torch.uint8), len(parts)
    calls: dict[str, tuple[Call, float]] = {
        "host to device": (lambda: there.copy_(host, non_blocking=True), 1),
        "device to host": (lambda: host.copy_(there, non_blocking=True), 1),
    }
    if gpus > 1:  # the bus bandwidth, as nccl-tests defines it
        calls["all-reduce"] = (lambda: torch.cuda.nccl.all_reduce(parts), 2 * (gpus - 1) / gpus)
    return {
        name: {
            "of": f"{LINK_BYTES / 2**20:g} MiB" + (f", {gpus} GPUs" if name == "all-reduce" else ", pinned"),
            "samples": [share * LINK_BYTES / seconds for seconds in _sampled(call, device)],
        }
        for name, (call, share) in calls.items()
    }


def _sampled(call: Call, device: str) -> Iterator[float]:
    """Yield ``SAMPLES`` times of a call, in seconds per call."""
    _seconds(call, 1, device)
    count = max(1, math.ceil(SAMPLE_SECONDS / _seconds(call, 1, device)))
    _seconds(call, count, device)  # warm-up: clock rates settle under the same load
    for _ in range(SAMPLES):
        yield _seconds(call, count, device)


def _seconds(call: Call, count: int, device: str) -> float:
    """Return the mean seconds per call over ``count`` consecutive calls; on a GPU, CUDA events measure the time."""
    if device != "cuda":
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) / count
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(count):
        call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000 / count
