"""Evidence: everything that one session of one benchmark on one machine measured, and no verdict."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import Field

from headroom.records.base import IsoDate, IsoTime, Name, Record, Sha256, Slug, Text, Value

MAX_BLOCKS = 1000
MAX_STEPS = 1_000_000


class Environment(Record):
    """The machine and its state, as ``headroom.environment`` sees them."""

    device: Text
    product: Text
    memory_bytes: int = Field(gt=0)
    cores: int = Field(gt=0)
    threads: int = Field(gt=0)
    instruction_sets: tuple[Text, ...]
    power_limit_w: float | None
    driver: Text | None
    system: Text
    virtualised: bool | None
    governor: Text | None
    load_before: float = Field(ge=0)
    versions: dict[Text, Text]
    unknown: tuple[Text, ...]


class Design(Record):
    """How the session was run."""

    blocks: int = Field(ge=1, le=MAX_BLOCKS)
    order_seed: int
    warmup_steps: int = Field(ge=0, le=MAX_STEPS)
    timed_steps: int = Field(ge=1, le=MAX_STEPS)
    timer: Text
    synchronised: bool
    """Whether the device was waited for before the clock was read."""
    process: Text
    """What a run shares with others: nothing but imported libraries, or a whole block."""


class Run(Record):
    """One process: one arm at one point, in one slot of one block."""

    block: int = Field(ge=0, lt=MAX_BLOCKS)
    position: int = Field(ge=0)
    """Its place in the order of its block."""
    arm: Text
    control: bool
    """Whether it is the baseline once more, in the subject's place."""
    point: dict[Name, Value]
    input_seed: int
    """Seed of the block's inputs: the same for every arm of a block, another in every block."""
    started: float
    ended: float
    """Seconds since the session began."""
    samples: dict[Name, tuple[float, ...]]
    """Raw samples by metric, in the metric's unit."""
    output: float | None
    """What the step computed (its loss), so that arms can be held to do the same work."""
    work_sha256: Sha256 | None
    """A hash of the operations and data types of one step: equal hashes mean that two arms did the very same work."""
    flops: float | None = Field(ge=0)
    """Floating-point operations of the matmuls of one step. Zero counts as not known: a counter can miss a kernel."""
    throttled: tuple[Text, ...]
    """Active thermal or hardware slow-down reasons; a power cap is none."""
    others_cpu: float | None = Field(default=None, ge=0, le=1)
    """Share of the time of the machine's cores that went to anything but this run while it ran; null where the system
    does not say. Older sessions lack it."""
    benchmark_seconds: float | None = Field(default=None, ge=0)
    """Of the time between started and ended, what the benchmark took: to prepare, and for every step but an inspected
    one. The rest is the harness's. Older sessions lack it."""


class Failure(Record):
    """A run that gave no result."""

    block: int = Field(ge=0, lt=MAX_BLOCKS)
    position: int = Field(ge=0)
    arm: Text
    control: bool
    point: dict[Name, Value]
    reason: Text


class Head(Record):
    """Everything of a session but its runs: what it ran, where, when and how, and which runs gave no result."""

    benchmark: Name
    benchmark_syntax_sha256: Sha256
    harness: Text
    date: IsoDate
    time: IsoTime | None = None
    """When on that day it began, in UTC. Older sessions lack it."""
    hardware_class: Slug
    environment: Environment
    design: Design
    units: dict[Name, Text]
    """The unit of each metric's samples."""
    failures: tuple[Failure, ...]

    @property
    def moment(self) -> tuple[str, str]:
        """What sessions are ordered by; one that does not say its time comes before those of its day that do."""
        return self.date, self.time or ""


class Evidence(Head):
    """One session. The name of its file ends in the first twelve digits of its hash, so it cannot be edited unseen."""

    runs: tuple[Run, ...]

    def keys(self) -> int:
        """How many keys the session's JSON holds if none stands twice."""
        named = sum(record.written() for record in (self, self.environment, self.design))
        named += len(self.environment.versions) + len(self.units)
        runs = sum([len(run.model_fields_set) + len(run.point) + len(run.samples) for run in self.runs])
        return named + runs + sum(failure.written() + len(failure.point) for failure in self.failures)


Place = tuple[tuple[str, Value], ...]
"""A point as a sorted tuple, which is equal to another's whenever the points are equal."""


class Slot(NamedTuple):
    """One run that a block is to hold."""

    arm: str
    control: bool
    point: Place

    def key(self) -> tuple[str, ...]:
        """Something to sort by: the canonical order before the shuffle."""
        return (repr(self.point), self.arm, str(self.control))


def place(point: Mapping[str, Value]) -> Place:
    """A point as something that can be looked up."""
    items = tuple(point.items())
    return items if len(items) < 2 else tuple(sorted(items))  # noqa: PLR2004 - one is in order


def slot_of(run: Run | Failure) -> Slot:
    """The slot that a run filled."""
    return Slot(run.arm, run.control, place(run.point))


def block_order(slots: Iterable[Slot], order_seed: int, block: int) -> list[Slot]:
    """The order of a block's runs: a shuffle that anybody can repeat from the recorded seed."""
    return next(block_orders(slots, order_seed, (block,)))


def block_orders(slots: Iterable[Slot], order_seed: int, blocks: Iterable[int]) -> Iterator[list[Slot]]:
    """The order of each of these blocks, in turn."""
    canonical = sorted(slots, key=Slot.key)
    shuffler = random.Random(0)  # noqa: S311 - an order, not a secret
    for block in blocks:
        order = list(canonical)
        shuffler.seed(f"{order_seed}:{block}")
        shuffler.shuffle(order)
        yield order
