"""Recorded errors of memory estimates, against traced steps, measured steps and published figures."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from headroom.io.safe_read import MAX_JSON_BYTES, sha256
from headroom.records.base import IsoDate, Record, Slug, Text
from headroom.records.evidence import Environment
from headroom.records.loader import Reader

FOLDER = "checks/memory-errors"
Bytes = Annotated[int, Field(ge=0, le=2**50)]
Setting = bool | Annotated[int, Field(ge=0, le=2**31)] | Text | None


class ComparedStep(Record):
    """One job of one model."""

    model: Text
    """The id of a model shape."""
    changed: dict[Text, Setting] = Field(default_factory=dict)
    """The fields of its configuration that were changed to make it small."""
    job: dict[Text, Setting]
    """The options of ``headroom estimate``, as ``{"precision": "bf16", "batch": 2}``."""


class TracedStep(ComparedStep):
    """A step traced at its full size, and its estimate."""

    family: Text
    traced: dict[Text, Bytes] = Field(default_factory=dict)
    """The largest memory of each phase, of all phases as ``peak``, and of the weights."""
    estimated: dict[Text, Bytes] = Field(default_factory=dict)
    """The same of the estimate; empty if there is none."""
    refused: Text | None = None
    """Why the job was not traced or not estimated."""


class MeasuredStep(ComparedStep):
    """A step that was traced and measured on the same device, in a fresh process."""

    device: Literal["cpu", "cuda"]
    traced: Bytes
    measured: Bytes
    reserved: Bytes | None = None
    """On CUDA, what PyTorch reserved."""
    process: Bytes | None = None
    """On CUDA, the used memory of the device."""


class PublishedStep(Record):
    """A published row and its estimate."""

    table: Slug
    row: Slug
    model: Text
    kind: Text
    """The kind of job: full, lora, qlora, decode …"""
    gpus: Annotated[int, Field(ge=1)]
    counts: Literal["allocated", "active", "reserved"]
    measured: Bytes
    estimated: Bytes
    process: Bytes | None = None
    """The used memory of the device, if the source has it."""
    low: Bytes
    """The least that the process is estimated to take."""
    high: Bytes


class JudgedStep(Record):
    """A published job whose outcome on a card is known, and its estimate."""

    table: Slug
    row: Slug
    card: Slug
    """The id of the card in checks/facts/cards.yml."""
    gpus: Annotated[int, Field(ge=1)]
    outcome: Literal["ran", "out-of-memory"]
    estimated: Bytes
    """The estimated peak of the allocated bytes."""
    low: Bytes
    """The least that the process is estimated to take."""
    high: Bytes


class MemoryErrors(Record):
    """A file of checks/memory-errors/, written by ``headroom trace --grid --record`` or ``measure --wanted``."""

    versions: dict[Text, Text]
    machine: Text
    date: IsoDate
    hardware_class: Slug | None = None
    """The hardware class of a lent machine, which measured one step per file."""
    environment: Environment | None = None
    """The lent machine."""
    traced: tuple[TracedStep, ...] = ()
    measured: tuple[MeasuredStep, ...] = ()
    published: tuple[PublishedStep, ...] = ()
    judged: tuple[JudgedStep, ...] = ()


def step_path(hardware_class: str, step: ComparedStep) -> str:
    """Return the path of a lent machine's record of a step: the hardware class, and the hash of the step."""
    asked = json.dumps([step.model, dict(step.changed), dict(step.job)], sort_keys=True)
    return f"{FOLDER}/measured-{hardware_class}-{sha256(asked)[:12]}.json"


def read_memory_errors(reader: Reader) -> dict[str, MemoryErrors]:
    """Return the files of the folder by name; a file with a problem is reported and left out."""
    found = {}
    for file in reader.each(FOLDER, ".json", "memory"):
        data = reader.data(file, "memory", MAX_JSON_BYTES)
        record = reader.json(file, data, "memory", MemoryErrors.model_validate_json) if data is not None else None
        if record is not None:
            found[file.stem] = record[0]
    return found


def errors_of(root: Path) -> dict[str, MemoryErrors]:
    """Return the files of the folder by name, without those that cannot be read."""
    return read_memory_errors(Reader(root))
