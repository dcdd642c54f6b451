"""Machines: what a machine of a class can do, as ``headroom machine`` measured it."""

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
    """One figure of a machine, measured again and again."""

    of: Text
    """What was worked on: of which size, and how often."""
    samples: tuple[_Positive, ...] = Field(min_length=3)
    """In the order in which they were measured."""

    @property
    def median(self) -> float:
        """The typical sample."""
        return median(self.samples)


class Machine(Record):
    """What one machine can do. Its file is named by its hash, like evidence, and never edited."""

    harness: Text
    """The code that measured."""
    date: IsoDate
    hardware_class: Slug
    environment: Environment
    others_cpu: float | None = Field(ge=0, le=1)
    """Share of the time of the machine's cores that others had meanwhile; null where the system does not say."""
    throttled: tuple[Text, ...]
    """Active thermal or hardware slow-down reasons at the end."""
    products: dict[Format, Measurement] = Field(min_length=1)
    """Operations a second of a product of matrices by the format of both; to multiply and add are two operations."""
    bandwidth: dict[Literal["copy", "triad"], Measurement]
    """Bytes a second that a copy, and a sum of two arrays, reads and writes."""
    launch: Measurement
    """Seconds that a call of an operation on one number takes, in a long row of them."""
    not_measured: dict[Format, Text]
    """The formats that the device or its libraries have no product of, with what they said."""

    @property
    def fastest(self) -> tuple[Format, float]:
        """The format whose product is fastest, and its best rate."""
        best: dict[Format, float] = {name: max(found.samples) for name, found in self.products.items()}
        name = max(best, key=lambda each: best[each])
        return name, best[name]


def machines(reader: Reader) -> Mapping[str, Machine]:
    """The machines of a tree by the paths of their files, in order."""
    found: dict[str, Machine] = {}
    for file in reader.each("checks/machines", ".json", "machines"):
        data = reader.data(file, "machines", safe_read.MAX_JSON_BYTES)
        read = reader.json(file, data, "machines", Machine.model_validate_json) if data is not None else None
        if read is None:
            continue
        machine, text = read
        expected = machine_path(machine.hardware_class, machine.date, sha256(text))
        if file.name != expected:
            message = "its content is not what its name says"
            remedy = f"what was measured is never edited: restore the file, or, if it is new, name it {expected}"
            reader.complain(file.name, "machines", message, remedy, None)
        found[file.name] = machine
    return found
