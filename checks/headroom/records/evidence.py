"""Evidence: everything that one session of one benchmark on one machine measured, and no verdict."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import Field

from headroom.records.base import IsoDate, Name, Record, Sha256, Slug, Text, Value


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

    blocks: int = Field(ge=1)
    order_seed: int
    warmup_steps: int = Field(ge=0)
    timed_steps: int = Field(ge=1)
    timer: Text
    synchronised: bool
    """Whether the device was waited for before the clock was read."""
    process: Text
    """What a run shares with others: nothing but imported libraries, or a whole block."""


class Run(Record):
    """One process: one arm at one point, in one slot of one block."""

    block: int = Field(ge=0)
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
    flops: float | None
    """Floating-point operations of the matrix products of one step."""
    throttled: tuple[Text, ...]
    """Active thermal or hardware slow-down reasons; a power cap is none."""


class Failure(Record):
    """A run that gave no result."""

    block: int = Field(ge=0)
    position: int = Field(ge=0)
    arm: Text
    control: bool
    point: dict[Name, Value]
    reason: Text


class Evidence(Record):
    """One session. The name of its file ends in the first twelve digits of its hash, so it cannot be edited unseen."""

    benchmark: Name
    benchmark_syntax_sha256: Sha256
    harness: Text
    date: IsoDate
    hardware_class: Slug
    environment: Environment
    design: Design
    units: dict[Name, Text]
    """The unit of each metric's samples."""
    runs: tuple[Run, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One run that a block is to hold."""

    arm: str
    control: bool
    point: tuple[tuple[str, Value], ...]

    def key(self) -> tuple[str, ...]:
        """Something to sort by: the canonical order before the shuffle."""
        return (repr(self.point), self.arm, str(self.control))


def slot_of(run: Run | Failure) -> Slot:
    """The slot that a run filled."""
    return Slot(run.arm, run.control, tuple(sorted(run.point.items())))


def block_order(slots: Iterable[Slot], order_seed: int, block: int) -> list[Slot]:
    """The order of a block's runs: a shuffle that anybody can repeat from the recorded seed."""
    order = sorted(slots, key=Slot.key)
    random.Random(f"{order_seed}:{block}").shuffle(order)  # noqa: S311 - an order, not a secret
    return order
