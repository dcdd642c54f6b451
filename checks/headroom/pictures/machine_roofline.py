"""Draw the roofline of a measured machine beside what is printed of its hardware class, as curves and as text."""

from collections.abc import Iterator
from math import log10
from typing import Final, NoReturn

from headroom.pictures import log_curves
from headroom.pictures.canvas import Picture
from headroom.pictures.formulas import Formulas
from headroom.records.accelerators import Accelerator
from headroom.records.facts import HardwareClass
from headroom.records.machines import Machine
from headroom.records.pictures import Curves

_PLACES: Final = {
    "sum of two arrays, fp32": "1/12",
    "matmul with 1 row, bf16": "1",
    "matmul of 2,048 × 2,048, bf16": "2048/3",
}
"""FLOPs per byte that an operation reads and writes."""
_WIDE: Final = 60
_TALL: Final = 14
_MARKS: Final = "●○·"


def curves(machine: Machine, hardware: HardwareClass | None, accelerator: Accelerator | None) -> Curves:
    """Return the rooflines of the measured rates, and of the printed ones.

    Args:
        machine: the measured machine.
        hardware: its hardware class, if it has one.
        accelerator: what is printed of the device, if the class names one.
    """
    fastest, _ = machine.fastest
    best = {
        name: max(machine.products[name].samples) / 1e12 for name in {fastest: 0, "fp32": 0} if name in machine.products
    }
    memory = max(max(each.samples) for each in machine.bandwidth.values()) / 1e12
    let: dict[str, str | float] = {"M": memory}
    found: dict[str, str] = {}
    for letter, (name, rate) in zip("AB", best.items(), strict=False):
        let[letter] = rate
        found[f"measured here, {name}: {rate:.3g} TFLOP/s and {memory * 1000:.4g} GB/s"] = f"min({letter}, M*X)"
    for printed, formula, values in _printed(fastest, hardware, accelerator):
        let |= values
        found[printed] = formula
    return Curves(
        kind="curves",
        title=f"Roofline of {machine.environment.product}",
        let=let,
        x="FLOPs per byte that an operation reads and writes",
        y="TFLOP/s, at most",
        places={**_PLACES, f"ridge, {fastest}": best[fastest] / memory},
        curves=found,
    )


def _printed(
    fastest: str, hardware: HardwareClass | None, accelerator: Accelerator | None
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the name, the formula and the values of the printed roofline, as far as it is known."""
    rate = accelerator.peak(fastest) if accelerator else None
    bandwidth = accelerator.bandwidth if accelerator else None
    if accelerator and rate and bandwidth is not None and not isinstance(bandwidth, str):
        name = f"printed, {accelerator.title}, {fastest}: {rate:g} TFLOP/s and {bandwidth.value:g} GB/s"
        yield name, "min(P, G*X)", {"P": rate, "G": bandwidth.value / 1000}
    elif hardware and hardware.peak_flops:
        name = f"bound of {hardware.name}, any format: {hardware.peak_flops / 1e12:.3g} TFLOP/s"
        yield name, "min(P, P)", {"P": hardware.peak_flops / 1e12}


def picture(data: Curves) -> Picture:
    """Return the drawing."""
    return log_curves.picture("machine-roofline", data, _no_source)


def text(data: Curves) -> Iterator[str]:
    """Yield the lines of a drawing for a terminal."""
    values = {name: _column(data, formula) for name, formula in data.curves.items()}
    every = [value for column in values.values() for value in column]
    low, high = log10(min(every)), log10(max(every))
    rows = [[" "] * _WIDE for _ in range(_TALL)]
    for mark, column in reversed([*zip(_MARKS, values.values(), strict=False)]):
        for x, value in enumerate(column):
            rows[round((high - log10(value)) / (high - low) * (_TALL - 1))][x] = mark
    yield f"{data.y} (logarithmic)"
    for number, row in enumerate(rows):
        label = (
            f"{10 ** (high - number / (_TALL - 1) * (high - low)):9.3g}" if number % 4 == 1 or number == 0 else " " * 9
        )
        yield f"{label} │{''.join(row)}".rstrip()
    yield f"{' ' * 9} └{'─' * _WIDE}"
    first, last = _ends(data)
    yield f"{' ' * 11}{first:<10.2g}{data.x:^{_WIDE - 20}}{last:>10.4g}"
    yield from (f"  {mark} {name}" for mark, name in zip(_MARKS, values, strict=False))


def _ends(data: Curves) -> tuple[float, float]:
    places = [Formulas(data.let, _no_source).value(str(each)) for each in data.places.values()]
    return min(places) / 1.6, max(places) * 1.6


def _column(data: Curves, formula: str) -> list[float]:
    """Return a curve's value at each column."""
    first, last = _ends(data)
    steps = [first * (last / first) ** (i / (_WIDE - 1)) for i in range(_WIDE)]
    return [Formulas({**data.let, "X": x}, _no_source).value(formula) for x in steps]


def _no_source(address: str) -> NoReturn:
    """Refuse an address: each figure is measured, or given by the hardware class."""
    raise LookupError(address)
