"""What vendors print about accelerators, with the source of each figure: the files of checks/facts/accelerators/."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from headroom.io.strict_load import Location
from headroom.records.base import Record, Slug, Text
from headroom.records.facts import Confidence, FactCell, FactSheet, FactSource, Format

FOLDER = "checks/facts/accelerators"
Unknown = Literal["unknown"]
Check = Literal[
    "fp16-bf16",
    "tf32-half",
    "fp8-double",
    "int8-double",
    "fp4-double",
    "sparse-double",
    "matrix-above-vector",
    "units-and-clock",
    "bus-and-bandwidth",
    "stacks-and-memory",
    "printed-and-reported",
    "reported-and-usable",
    "link-directions",
    "link-count",
    "devices-and-package",
    "chip-and-pod",
    "achieved-below-peak",
    "ridge",
]
"""The names of the checks that find contradictions between the cells of an accelerator."""
Positive = Annotated[float, Field(gt=0)]


class Sourced(Record):
    """A cell with its source."""

    source: Slug
    """A key of the file's sources."""
    confidence: Confidence


class Memory(Sourced):
    """A memory size."""

    value: Positive
    unit: Literal["GB", "GiB", "MiB"]
    """As the source writes it. Vendors often write GB for GiB."""


class Bandwidth(Sourced):
    """A memory bandwidth."""

    value: Positive
    unit: Literal["GB/s"]


class Power(Sourced):
    """The power that the vendor states: TDP, board power or a limit."""

    value: Positive
    unit: Literal["W"]


class Capability(Sourced):
    """The compute capability of an NVIDIA GPU, or the LLVM target of an AMD GPU."""

    value: Text


class Throughput(Sourced):
    """A number of operations per second."""

    value: Positive
    unit: Literal["TFLOPS"]


class Unsupported(Sourced):
    """The hardware does not have it."""

    supported: Literal[False]


class Rate(Sourced):
    """A peak rate with dense operands."""

    value: Positive | Unknown
    unit: Literal["TFLOPS", "TOPS"]
    accumulation: Literal["fp32", "fp16", "int32", "unstated"]
    """The format in which products are summed. ``unstated`` where the source does not say it."""
    units: Literal["matrix", "vector"]
    """Whether matrix units (tensor cores) or vector units (CUDA cores) reach the rate."""
    with_sparsity: Positive | None = None
    """The rate that the vendor prints for operands with structured sparsity."""
    sparsity_source: Slug | None = None
    """The source of ``with_sparsity``, if it is another one."""


class Bus(Sourced):
    """The memory bus."""

    bits: Annotated[int, Field(gt=0)]
    gigabits_per_pin: Positive
    """Gbit/s per pin, with both edges of the clock."""


class Stack(Sourced):
    """A stack of HBM. The stacks of a GPU follow from its bus, of which each has 1024 bits."""

    gigabytes: Positive


class Pod(Sourced):
    """The largest system of equal chips for which the vendor prints a rate."""

    chips: Annotated[int, Field(gt=1)]
    rate: Positive
    """With all chips, usually of two digits."""
    unit: Literal["PFLOPS"]
    format: Format


class MatrixUnits(Sourced):
    """The matrix units and their clock."""

    count: Annotated[int, Field(gt=0)]
    megahertz: Positive
    format: Format
    """The format whose peak follows from them."""
    operations_per_clock: Annotated[int, Field(gt=0)] | None = None
    """Operations of one unit per clock, where a source states it. A fused multiply-add counts as two."""
    operations_source: Slug | None = None
    """The source of ``operations_per_clock``, if it is another one."""


class Link(Sourced):
    """The links between accelerators of one node or rack."""

    name: Text
    one_direction: Positive
    both_directions: Positive
    unit: Literal["GB/s"]
    peers: Literal["all", "each", "one", "unstated"]
    """``all``: one peer can use all links. ``each``: each peer has a part. ``one``: a bridge joins two."""
    links: Annotated[int, Field(gt=0)] | None = None
    per_link: Positive | None = None
    """GB/s of one link in one direction."""

    @model_validator(mode="after")
    def _pair(self) -> "Link":
        if (self.links is None) != (self.per_link is None):
            raise ValueError("only one of `links` and `per_link` is given; give both, or none")
        return self


def _kind(value: Any) -> str:
    """Return the tag of a cell, so that a problem in it is reported for the right kind of cell alone."""
    if isinstance(value, str):
        return "unknown"
    unsupported = isinstance(value, Unsupported) or (isinstance(value, dict) and "supported" in value)
    return "unsupported" if unsupported else "given"


_Unknown = Annotated[Unknown, Tag("unknown")]
_Unsupported = Annotated[Unsupported, Tag("unsupported")]
_MemoryCell = Annotated[Annotated[Memory, Tag("given")] | _Unknown, Discriminator(_kind)]
_BandwidthCell = Annotated[Annotated[Bandwidth, Tag("given")] | _Unknown, Discriminator(_kind)]
_PowerCell = Annotated[Annotated[Power, Tag("given")] | _Unknown, Discriminator(_kind)]
_CapabilityCell = Annotated[Annotated[Capability, Tag("given")] | _Unknown, Discriminator(_kind)]
_LinkCell = Annotated[Annotated[Link, Tag("given")] | _Unsupported | _Unknown, Discriminator(_kind)]
_RateCell = Annotated[Annotated[Rate, Tag("given")] | _Unsupported | _Unknown, Discriminator(_kind)]


class Accelerator(Record):
    """One product. ``unknown`` means that no source was found."""

    title: Text
    counts: Literal["device", "package"]
    """What the figures are for: one device, or a package in which software sees several."""
    devices: Annotated[int, Field(gt=0)] = 1
    """The devices that software sees in it."""
    memory: _MemoryCell
    """What the vendor prints."""
    reported: Memory | None = None
    """The total that the driver reports, as nvidia-smi or rocm-smi shows it."""
    usable: Memory | None = None
    """The total that CUDA or HIP reports to a program on Linux, such as ``torch.cuda.mem_get_info()[1]``."""
    bandwidth: _BandwidthCell
    bus: Bus | None = None
    stack: Stack | None = None
    matrix_units: MatrixUnits | None = None
    pod: Pod | None = None
    device_bf16: Throughput | None = None
    """The bf16 peak of one of several devices."""
    power: _PowerCell
    capability: _CapabilityCell
    link: _LinkCell
    peaks: dict[Format, _RateCell]
    achieved: dict[Format, Throughput] = Field(default_factory=dict)
    """The best dense matmul rate that somebody measured."""
    exceptions: dict[Check, Text] = Field(default_factory=dict)
    """The checks that do not hold, each with the reason."""
    note: Text | None = None

    def peak(self, name: str) -> float | None:
        """Return a dense peak rate, if one is known."""
        found = {str(key): cell for key, cell in self.peaks.items()}.get(name)
        return found.value if isinstance(found, Rate) and found.value != "unknown" else None

    def cells(self) -> Iterator[tuple[Location, Sourced]]:
        """Yield each cell with its place in the record."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            found = value.items() if isinstance(value, dict) else [(None, value)]
            for key, cell in found:
                if isinstance(cell, Sourced):
                    yield (name, key) if key else (name,), cell


class Family(Record):
    """The accelerators of one family, and the sources of their figures."""

    id: Slug
    title: Text
    vendor: Text
    sources: dict[Slug, FactSource]
    accelerators: dict[Slug, Accelerator]


def sources_of(cell: Sourced) -> tuple[str, ...]:
    """Return the sources that a cell names."""
    other = cell.sparsity_source if isinstance(cell, Rate) else None
    if isinstance(cell, MatrixUnits):
        other = cell.operations_source
    return (cell.source, other) if other else (cell.source,)


def sheet(name: str, family: Family) -> FactSheet:
    """Return the figures of an accelerator as a sheet, for links such as ``fact:h100-sxm.bandwidth``.

    Rates, bandwidths and powers are plain numbers there, in TFLOPS or TOPS, GB/s and W.
    """
    accelerator = family.accelerators[name]
    figures = {key: figure for place, cell in accelerator.cells() for key, figure in _figures(place, cell)}
    return FactSheet(id=name, title=accelerator.title, sources=family.sources, figures=figures)


def _figures(place: Location, cell: Sourced) -> Iterator[tuple[str, FactCell]]:
    """Yield the figures of a cell by name, such as ``memory``, ``bf16``, ``bf16_sparse`` and ``achieved_bf16``."""
    field, key = str(place[0]), str(place[-1])
    name = f"achieved_{key}" if field == "achieved" else key

    def figure(value: float, unit: str = "1", source: str = cell.source) -> FactCell:
        return FactCell(value=value, unit=unit, source=source, confidence=cell.confidence)

    if isinstance(cell, Memory):
        yield name, figure(cell.value, cell.unit)
    elif isinstance(cell, Link):
        yield from (("link_one_direction", figure(cell.one_direction)), ("link", figure(cell.both_directions)))
    elif isinstance(cell, Rate):
        if cell.value != "unknown":
            yield name, figure(cell.value)
        if cell.with_sparsity:
            yield f"{name}_sparse", figure(cell.with_sparsity, source=cell.sparsity_source or cell.source)
    elif isinstance(cell, Bandwidth | Power | Throughput):
        yield name, figure(cell.value)
