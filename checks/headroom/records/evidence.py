"""Evidence: the raw samples of one session of one benchmark on one machine, and the order of its runs."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import Field

from headroom.records.base import IsoDate, IsoTime, Name, Record, Sha256, Slug, Text, Value

MAX_BLOCKS = 1000
MAX_STEPS = 1_000_000


class Environment(Record):
    """The machine and its state, as ``headroom.environment`` reads them."""

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
    """The experimental design of a session: blocks, order, warm-up, steps and timer."""

    blocks: int = Field(ge=1, le=MAX_BLOCKS)
    order_seed: int
    warmup_steps: int = Field(ge=0, le=MAX_STEPS)
    timed_steps: int = Field(ge=1, le=MAX_STEPS)
    timer: Text
    synchronised: bool
    """Whether the harness synchronised the device before it read the clock."""
    process: Text
    """What runs share a process: none (only imported libraries are shared), or the runs of a block."""


class Run(Record):
    """One process: one arm at one point, in one slot of one block."""

    block: int = Field(ge=0, lt=MAX_BLOCKS)
    position: int = Field(ge=0)
    """The index of the run in the order of its block."""
    arm: Text
    control: bool
    """Whether it is a second run of the baseline, for an A/A comparison."""
    point: dict[Name, Value]
    input_seed: int
    """Seed of the inputs: the same for every arm of a block, and different in every block."""
    started: float
    ended: float
    """Seconds since the session began."""
    samples: dict[Name, tuple[float, ...]]
    """Raw samples by metric, in the metric's unit."""
    output: float | None
    """The result of the step (its loss), to check that both arms do the same work."""
    work_sha256: Sha256 | None
    """Hash of the operations and data types of one step: two arms with equal hashes did the same work."""
    flops: float | None = Field(ge=0)
    """Floating-point operations of the matmuls of one step. Zero means unknown: a counter can miss a kernel."""
    throttled: tuple[Text, ...]
    """Active thermal or hardware throttling reasons; a power cap does not count."""
    others_cpu: float | None = Field(default=None, ge=0, le=1)
    """Share of the machine's CPU time that other processes used during the run; null if unknown. Older sessions lack
    it."""
    benchmark_seconds: float | None = Field(default=None, ge=0)
    """Seconds between started and ended that the benchmark used: its preparation and every step that is not inspected.
    The rest is overhead of the harness. Older sessions lack it."""


class Failure(Record):
    """A run without a result, with the reason."""

    block: int = Field(ge=0, lt=MAX_BLOCKS)
    position: int = Field(ge=0)
    arm: Text
    control: bool
    point: dict[Name, Value]
    reason: Text


class Head(Record):
    """A session without its runs: benchmark, machine, time, design and failed runs."""

    benchmark: Name
    benchmark_syntax_sha256: Sha256
    harness: Text
    date: IsoDate
    time: IsoTime | None = None
    """The time at which it began, in UTC. Older sessions lack it."""
    hardware_class: Slug
    environment: Environment
    design: Design
    units: dict[Name, Text]
    """The unit of each metric's samples."""
    failures: tuple[Failure, ...]

    @property
    def moment(self) -> tuple[str, str]:
        """Date and time as a sort key; a session without a time precedes the others of its day."""
        return self.date, self.time or ""


class Evidence(Head):
    """A session with its runs. Its file name ends in the first twelve digits of its hash, which reveals any edit."""

    runs: tuple[Run, ...]

    def keys(self) -> int:
        """Return the number of keys in the session's JSON, if no key is a duplicate."""
        named = sum(record.written() for record in (self, self.environment, self.design))
        named += len(self.environment.versions) + len(self.units)
        runs = sum([len(run.model_fields_set) + len(run.point) + len(run.samples) for run in self.runs])
        return named + runs + sum(failure.written() + len(failure.point) for failure in self.failures)


Place = tuple[tuple[str, Value], ...]
"""A point as a sorted, hashable tuple: equal points have equal places."""


class Slot(NamedTuple):
    """One planned run of a block."""

    arm: str
    control: bool
    point: Place

    def key(self) -> tuple[str, ...]:
        """Return the sort key of the canonical order, which the shuffle starts from."""
        return (repr(self.point), self.arm, str(self.control))


def place(point: Mapping[str, Value]) -> Place:
    """Return a point as a sorted, hashable tuple."""
    items = tuple(point.items())
    return items if len(items) < 2 else tuple(sorted(items))  # noqa: PLR2004 - one is in order


def slot_of(run: Run | Failure) -> Slot:
    """Return the slot of a run."""
    return Slot(run.arm, run.control, place(run.point))


def block_order(slots: Iterable[Slot], order_seed: int, block: int) -> list[Slot]:
    """Return the order of a block's runs: a shuffle that the recorded seed reproduces."""
    return next(block_orders(slots, order_seed, (block,)))


def block_orders(slots: Iterable[Slot], order_seed: int, blocks: Iterable[int]) -> Iterator[list[Slot]]:
    """Yield the order of the runs of each given block."""
    canonical = sorted(slots, key=Slot.key)
    shuffler = random.Random(0)  # noqa: S311 - an order, not a secret
    for block in blocks:
        order = list(canonical)
        shuffler.seed(f"{order_seed}:{block}")
        shuffler.shuffle(order)
        yield order
