"""Machine records: matmul rates, bandwidth and launch time of one machine, measured by ``headroom machine``."""

from collections.abc import Mapping
from statistics import median
from typing import Annotated, Literal

from pydantic import Field

from headroom.io import safe_read
from headroom.io.safe_read import sha256
from headroom.records.base import IsoDate, Record, Slug, Text
from headroom.records.evidence import Environment
from headroom.records.loader import Reader
from headroom.records.paths import machine_path

Format = Literal["fp32", "tf32", "bf16", "fp16", "int8", "fp8"]
_Positive = Annotated[float, Field(gt=0)]


class Measurement(Record):
    """One figure of a machine, measured several times."""

    of: Text
    """The measured operation: its size and the number of repetitions."""
    samples: tuple[_Positive, ...] = Field(min_length=3)
    """The samples in the order of measurement."""

    @property
    def median(self) -> float:
        """The median of the samples."""
        return median(self.samples)


class Machine(Record):
    """The measured capabilities of one machine. Its file is named by its hash, like evidence, and never edited."""

    harness: Text
    """The version of the harness that measured."""
    date: IsoDate
    hardware_class: Slug
    environment: Environment
    others_cpu: float | None = Field(ge=0, le=1)
    """Share of the machine's CPU time that other processes used during the measurement; null if unknown."""
    throttled: tuple[Text, ...]
    """Thermal or hardware throttling reasons that were active at the end."""
    products: dict[Format, Measurement] = Field(min_length=1)
    """FLOP/s of a matmul, per format of its operands; a multiply-add counts as two operations."""
    bandwidth: dict[Literal["copy", "triad"], Measurement]
    """Bytes per second, read and written, of a copy and of a sum of two arrays."""
    launch: Measurement
    """Seconds per call of an operation on one number, in a long sequence of calls."""
    links: dict[Literal["host to device", "device to host", "all-reduce"], Measurement] = Field(default_factory=dict)
    """Bytes per second of copies between host and GPU, and the bus bandwidth of an all-reduce of all GPUs."""
    not_measured: dict[Format, Text]
    """The formats for which the device or its libraries have no matmul, with their error messages."""

    @property
    def fastest(self) -> tuple[Format, float]:
        """The format with the fastest matmul, and its best rate in FLOP/s."""
        best: dict[Format, float] = {name: max(found.samples) for name, found in self.products.items()}
        name = max(best, key=lambda each: best[each])
        return name, best[name]


def machines(reader: Reader) -> Mapping[str, Machine]:
    """Return the machines of a tree by the paths of their files, in order."""
    found: dict[str, Machine] = {}
    for file in reader.each("checks/machines", ".json", "machines"):
        data = reader.data(file, "machines", safe_read.MAX_JSON_BYTES)
        read = reader.json(file, data, "machines", Machine.model_validate_json) if data is not None else None
        if read is None:
            continue
        machine, text = read
        expected = machine_path(machine.hardware_class, machine.date, sha256(text))
        if file.name != expected:
            message = "the file name does not match the content"
            remedy = f"records are never edited: restore the file with git, or, if it is new, rename it to {expected}"
            reader.report(file.name, "machines", message, remedy, None)
        found[file.name] = machine
    return found
