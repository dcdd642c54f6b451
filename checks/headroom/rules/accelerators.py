"""Rule `accelerators`: the figures of an accelerator do not contradict each other."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from headroom.io.strict_load import Location
from headroom.records import Problem
from headroom.records.accelerators import FOLDER, Accelerator, Bandwidth, Check, Link, Memory, Rate
from headroom.rules.context import Context

_ROUNDED: Final = 0.025
"""How far two figures may be apart that sources have rounded."""
_REPORTED: Final = (0.93, 1.03)
"""What drivers report of a printed GB, in GiB: a part for ECC, or a GB that is a GiB."""
_PROGRAM: Final = (0.90, 1.005)
"""What CUDA and HIP report to a program of a printed GB, in GiB. The driver keeps a part besides ECC."""
_EXACT: Final = (0.97, 1.01)
"""The same of a printed GiB: memory that ECC takes is not printed then."""
_STACK: Final = 1024
"""The bits of a stack of HBM up to HBM3E. Memory with fewer bits than two stacks is of another kind."""
_USABLE: Final = (0.93, 1.02)
"""The part of a stack that vendors print: they keep some back, and write GB for GiB."""
_POD: Final = 0.05
"""How far the rate of a pod may be from that of its chips: vendors print two digits."""
_RIDGE: Final = (50, 600)
"""The FLOP per byte at which real accelerators are bound by bandwidth and by compute alike."""
_ABOVE: Final = 1.6
"""The least factor between the bf16 rate of matrix units and the fp32 rate of vector units."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Two figures that do not fit, and where."""

    place: Location
    message: str


def accelerators(context: Context) -> Iterator[Problem]:
    """Report contradictions that are no named exception, and exceptions without a contradiction."""
    for stem, family in context.tree.families.items():
        path = f"{FOLDER}/{stem}.yml"
        document = context.tree.documents[path]
        for name, accelerator in family.accelerators.items():
            for check, find in CHECKS.items():
                faults = list(find(accelerator))
                for fault in faults if check not in accelerator.exceptions else ():
                    place = ("accelerators", name, *fault.place)
                    field = ".".join(map(str, place))
                    remedy = f"correct the wrong figure, or give the reason as `{check}` in `exceptions`"
                    yield Problem(path, document.line(place), "accelerators", field, fault.message, remedy)
                if check in accelerator.exceptions and not faults:
                    place = ("accelerators", name, "exceptions", check)
                    message = f"{accelerator.title} needs no exception from `{check}`"
                    field = ".".join(map(str, place))
                    yield Problem(path, document.line(place), "accelerators", field, message, "remove the exception")


def _near(value: float, expected: float, within: float = _ROUNDED) -> bool:
    return abs(value - expected) <= within * expected


def _factor(factor: float, of: str, name: str) -> Callable[[Accelerator], Iterator[Fault]]:
    """Return a check that one dense peak is a multiple of another; fp16 stands in for a missing bf16."""

    def find(each: Accelerator) -> Iterator[Fault]:
        base, value = each.peak(of), each.peak(name)
        if base is None and of == "bf16" != name:
            base = each.peak("fp16")
        if base is not None and value is not None and not _near(value, factor * base):
            expected = f"{factor:g} times" if factor != 1 else "as high as"
            yield Fault(("peaks", name), f"the {name} rate {value:g} is not {expected} the {of} rate {base:g}")

    return find


def _sparse(each: Accelerator) -> Iterator[Fault]:
    """2:4 sparsity doubles a rate."""
    for name, rate in each.peaks.items():
        dense = each.peak(name)
        sparse = rate.with_sparsity if isinstance(rate, Rate) else None
        if dense is not None and sparse is not None and not _near(sparse, 2 * dense):
            yield Fault(("peaks", name), f"{sparse:g} with sparsity is not 2 times the dense rate {dense:g}")


def _matrix_above_vector(each: Accelerator) -> Iterator[Fault]:
    """Matrix units compute bf16 faster than vector units compute fp32; else the rate is that of the vector units."""
    fp32 = each.peaks.get("fp32")
    vector = fp32.value if isinstance(fp32, Rate) and fp32.units == "vector" else "unknown"
    for name in ("bf16", "fp16"):
        rate = each.peak(name)
        if rate is not None and vector != "unknown" and rate < _ABOVE * vector:
            yield Fault(
                ("peaks", name), f"the {name} rate {rate:g} is that of vector units, which have {vector:g} in fp32"
            )


def _units_and_clock(each: Accelerator) -> Iterator[Fault]:
    """The peak is units times operations times clock, and a unit's operations per clock are a power of two."""
    units = each.matrix_units
    peak = each.peak(units.format) if units else None
    if units is None or peak is None:
        return
    found = peak * 1e6 / (units.count * units.megahertz)
    expected = units.operations_per_clock or 2 ** round(math.log2(found))
    if not _near(found, expected):
        message = f"{peak:g} TFLOPS are {found:.0f} operations per unit and clock, not {expected}"
        yield Fault(("matrix_units",), message)


def _bus(each: Accelerator) -> Iterator[Fault]:
    """The bandwidth is the width of the bus times the rate of a pin."""
    if each.bus and isinstance(each.bandwidth, Bandwidth):
        found = each.bus.bits * each.bus.gigabits_per_pin / 8
        if not _near(each.bandwidth.value, found):
            message = f"the bandwidth {each.bandwidth.value:g} GB/s is not that of the bus, {found:g} GB/s"
            yield Fault(("bandwidth",), message)


def _stacks(each: Accelerator) -> Iterator[Fault]:
    """HBM consists of stacks of a recorded size. A superchip's memory is too large for one GPU."""
    if not each.bus or each.bus.bits < 2 * _STACK or not isinstance(each.memory, Memory):
        return
    if not each.stack:
        yield Fault(("bus",), f"a bus of {each.bus.bits} bits is that of HBM, and `stack` has no size of a stack")
        return
    low, high = _USABLE
    found = each.memory.value * _STACK / each.bus.bits
    if not low * each.stack.gigabytes <= found <= high * each.stack.gigabytes:
        known = f"{found:g} per stack of {_STACK} bits, not {each.stack.gigabytes:g}"
        yield Fault(("memory",), f"{each.memory.value:g} {each.memory.unit} are {known}")


def _pod(each: Accelerator) -> Iterator[Fault]:
    """The rate of a pod is that of its chips together."""
    peak = each.peak(each.pod.format) if each.pod else None
    if each.pod and peak is not None:
        found = peak * each.pod.chips / 1000
        if not _near(each.pod.rate, found, _POD):
            message = f"{each.pod.chips} chips of {peak:g} TFLOPS have {found:g} PFLOPS, not {each.pod.rate:g}"
            yield Fault(("peaks", each.pod.format), message)


def _reported(each: Accelerator) -> Iterator[Fault]:
    """A driver reports about as many GiB as the vendor prints GB, and nearly all of a printed GiB."""
    if each.reported and isinstance(each.memory, Memory):
        share = _gib(each.reported) * each.devices / each.memory.value
        low, high = _EXACT if each.memory.unit == "GiB" else _REPORTED
        if not low <= share <= high:
            printed = f"{each.memory.value:g} {each.memory.unit}"
            message = f"the reported memory is {_gib(each.reported):.1f} GiB, and {printed} are printed"
            yield Fault(("reported",), message)


def _usable(each: Accelerator) -> Iterator[Fault]:
    """A program sees at most what the driver reports, and about as many GiB as the vendor prints GB."""
    if not each.usable:
        return
    size = _gib(each.usable)
    if each.reported and size > 1.001 * _gib(each.reported):
        yield Fault(("usable",), f"programs see {size:.2f} GiB, and the driver reports {_gib(each.reported):.2f} GiB")
    if isinstance(each.memory, Memory):
        low, high = _PROGRAM
        if not low <= size * each.devices / each.memory.value <= high:
            printed = f"{each.memory.value:g} {each.memory.unit}"
            yield Fault(("usable",), f"programs see {size:.2f} GiB, and {printed} are printed")


def _gib(size: Memory) -> float:
    return size.value / {"MiB": 1024, "GiB": 1, "GB": 2**30 / 1e9}[size.unit]


def _directions(each: Accelerator) -> Iterator[Fault]:
    if isinstance(each.link, Link) and not _near(each.link.both_directions, 2 * each.link.one_direction):
        both, one = each.link.both_directions, each.link.one_direction
        yield Fault(("link",), f"{both:g} GB/s in both directions are not 2 times {one:g} GB/s in one")


def _count(each: Accelerator) -> Iterator[Fault]:
    if isinstance(each.link, Link) and each.link.links and each.link.per_link:
        found = each.link.links * each.link.per_link
        if not _near(each.link.one_direction, found):
            message = f"{each.link.links} links of {each.link.per_link:g} GB/s are {found:g} GB/s in one direction"
            yield Fault(("link",), f"{message}, not {each.link.one_direction:g}")


def _devices(each: Accelerator) -> Iterator[Fault]:
    """A package has the rate of its devices together."""
    if (each.counts == "package") != (each.devices > 1):
        yield Fault(("counts",), f"the figures are for a {each.counts} with {each.devices} device(s)")
    peak = each.peak("bf16")
    if each.device_bf16 and peak is not None and not _near(each.devices * each.device_bf16.value, peak):
        message = f"{each.devices} devices of {each.device_bf16.value:g} TFLOPS are not {peak:g} TFLOPS"
        yield Fault(("device_bf16",), message)


def _achieved(each: Accelerator) -> Iterator[Fault]:
    for name, found in each.achieved.items():
        peak = each.peak(name)
        if peak is not None and found.value > peak:
            yield Fault(("achieved", name), f"{found.value:g} TFLOPS were measured, above the peak of {peak:g}")


def _ridge(each: Accelerator) -> Iterator[Fault]:
    """A rate or a bandwidth in a wrong unit moves the ridge of the roofline far away."""
    rate = each.peak("bf16") or each.peak("fp16")
    if rate and isinstance(each.bandwidth, Bandwidth):
        ridge = rate * 1e3 / each.bandwidth.value
        if not _RIDGE[0] <= ridge <= _RIDGE[1]:
            message = f"{rate:g} TFLOPS at {each.bandwidth.value:g} GB/s are {ridge:.0f} FLOP per byte"
            yield Fault(("bandwidth",), f"{message}, outside of {_RIDGE[0]} to {_RIDGE[1]}")


CHECKS: Final[Mapping[Check, Callable[[Accelerator], Iterator[Fault]]]] = {
    "fp16-bf16": _factor(1, "bf16", "fp16"),
    "tf32-half": _factor(0.5, "bf16", "tf32"),
    "fp8-double": _factor(2, "bf16", "fp8"),
    "int8-double": _factor(2, "bf16", "int8"),
    "fp4-double": _factor(2, "fp8", "fp4"),
    "sparse-double": _sparse,
    "matrix-above-vector": _matrix_above_vector,
    "units-and-clock": _units_and_clock,
    "bus-and-bandwidth": _bus,
    "stacks-and-memory": _stacks,
    "printed-and-reported": _reported,
    "reported-and-usable": _usable,
    "link-directions": _directions,
    "link-count": _count,
    "devices-and-package": _devices,
    "chip-and-pod": _pod,
    "achieved-below-peak": _achieved,
    "ridge": _ridge,
}
"""The checks, by the name that an exception has."""
