"""What a device can do, measured inside a process of its own: products, memory bandwidth, and the cost of a call.

Each figure is measured ``SAMPLES`` times, each time over a row of calls that lasts long enough for the clock to be
exact. Operands are random: a product of zeros draws less power, and so runs at a higher clock.
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
PILOT_SECONDS = 0.5  # a product that takes longer is the largest that is tried
PILOTS = 3
SIZES = {"cpu": (512, 1024, 2048), "cuda": (2048, 4096, 8192, 16384)}
ARRAY_BYTES = {"cpu": 1 << 29, "cuda": 1 << 31}  # far more than any cache holds
LAUNCHES = 1000

Call = Callable[[], object]


def run(request: Mapping[str, Any], result: str) -> None:
    """Measure a device and write what was found, as JSON, to the path ``result``.

    Args:
        request: ``device``, and ``memory_bytes``, of which the arrays take a small part.
        result: path of the file to write, in one piece and only when everything has succeeded.
    """
    device = str(request["device"])
    with torch.inference_mode():
        products, refused = _products(device)
        report = {
            "products": products,
            "not_measured": refused,
            "bandwidth": _bandwidth(device, int(request["memory_bytes"])),
            "launch": _launch(device),
        }
    write_atomic(Path(result), json.dumps(report))


def _products(device: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Operations a second of the product of two matrices, by format, and why the other formats have none."""
    found: dict[str, Any] = {}
    refused = {} if device == "cuda" else {"tf32": "a format of CUDA devices"}
    for name, made in _FORMATS.items():
        if name in refused:
            continue
        try:
            size = _fastest(made, device)
            call = made(size, device)
            rates = [2 * size**3 / seconds for seconds in _sampled(call, device)]
        except (RuntimeError, NotImplementedError, ValueError) as error:
            refused[name] = (" ".join(str(error).split()) or type(error).__name__)[:200]
        else:
            found[name] = {"of": f"two matrices of {size} × {size}", "samples": rates}
    return found, refused


def _fastest(made: Callable[[int, str], Call], device: str) -> int:
    """The size at which products of this format are fastest, of those that do not take too long."""
    rates: dict[int, float] = {}
    for size in SIZES[device]:
        call = made(size, device)
        _seconds(call, 1, device)  # the first call chooses a kernel, and may compile one
        seconds = min(_seconds(call, 1, device) for _ in range(PILOTS))
        rates[size] = size**3 / seconds
        if seconds > PILOT_SECONDS:
            break
    return max(rates, key=lambda size: rates[size])


def _floats(dtype: torch.dtype, precision: str = "ieee") -> Callable[[int, str], Call]:
    """Products of floating-point matrices, those of 32 bits in this precision of CUDA's tensor cores."""

    def made(size: int, device: str) -> Call:
        torch.backends.cuda.matmul.fp32_precision = precision
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty(size, size, device=device, dtype=dtype)
        return lambda: torch.mm(a, b, out=out)

    return made


def _int8(size: int, device: str) -> Call:
    a, b = (torch.randint(-128, 128, (size, size), device=device, dtype=torch.int8) for _ in range(2))
    return lambda: torch._int_mm(a, b.t())  # noqa: SLF001 - torch has no public product of int8


def _fp8(size: int, device: str) -> Call:
    a, b = (torch.randn(size, size, device=device).to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(  # noqa: SLF001 - the public one is newer than the oldest torch that is supported
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
    """Bytes a second that are read and written; what a CPU reads of a line before it writes it is not counted."""
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
    """Seconds of one of many calls in a row that do next to nothing: on a GPU a kernel is launched by each."""
    tiny = torch.zeros(1, device=device)

    def call() -> object:
        return tiny.add_(1.0)

    _seconds(call, LAUNCHES, device)
    samples = [_seconds(call, LAUNCHES, device) for _ in range(SAMPLES)]
    return {"of": f"{LAUNCHES} additions of one number in a row", "samples": samples}


def _sampled(call: Call, device: str) -> Iterator[float]:
    """Seconds of one call, measured again and again."""
    _seconds(call, 1, device)
    count = max(1, math.ceil(SAMPLE_SECONDS / _seconds(call, 1, device)))
    _seconds(call, count, device)  # clocks rise and settle under work of the same kind
    for _ in range(SAMPLES):
        yield _seconds(call, count, device)


def _seconds(call: Call, count: int, device: str) -> float:
    """Seconds of one call, as the mean of a row of them. A GPU's own clock tells those of its work."""
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
