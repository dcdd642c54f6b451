"""The orders of pipeline schedules, and when each operation runs.

A forward pass of all layers of one GPU takes 1, its backward pass 2, half of it for the gradients of the inputs and
half for those of the weights. Messages take no time. The orders are those of ``torch.distributed.pipelining``:
``ScheduleGPipe``, ``Schedule1F1B``, ``ScheduleInterleaved1F1B`` and ``ScheduleZBVZeroBubble``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Kind = Literal["F", "B", "I", "W"]
"""Forward, backward, and the two halves of backward: gradients of the inputs, gradients of the weights."""
_CHUNKS: Final = {"gpipe": 1, "1f1b": 1, "interleaved": 2, "zbv": 2}
_LENGTH: Final[dict[Kind, int]] = {"F": 1, "B": 2, "I": 1, "W": 1}


class Operation(NamedTuple):
    """One pass of a micro-batch through a stage."""

    kind: Kind
    stage: int
    micro: int


Orders = list[list[Operation]]
"""The operations of each GPU in order."""


def gpipe(p: int, m: int) -> Orders:
    """Return all forward passes, then all backward passes."""
    kinds: tuple[Kind, Kind] = ("F", "B")
    return [[Operation(kind, rank, i) for kind in kinds for i in range(m)] for rank in range(p)]


def interleaved(p: int, m: int, v: int) -> Orders:
    """Return 1F1B over v stages per GPU: GPU r has the stages r, r + p and so on; 1F1B itself has v = 1."""
    return [list(_alternating(rank, p, m, v)) for rank in range(p)]


def _alternating(rank: int, p: int, m: int, v: int) -> Iterator[Operation]:
    """Yield a GPU's forward passes until the first gradient can arrive, then backward and forward by turns."""

    def nth(kind: Kind, k: int) -> Operation:
        chunk = k // p % v
        return Operation(kind, rank + p * (v - 1 - chunk if kind == "B" else chunk), k // (p * v) * p + k % p)

    warm = min(m * v, (v - 1) * p + (2 if v > 1 else 1) * (p - 1 - rank))
    yield from (nth("F", k) for k in range(warm))
    for k in range(m * v):
        if warm + k < m * v:
            yield nth("F", warm + k)
        yield nth("B", k)


class _Fold:
    """A GPU's order in ZBV: its two stages are on the way down and on the way up of a fold."""

    def __init__(self, rank: int, p: int) -> None:
        self.down, self.up = rank, 2 * p - 1 - rank
        self.order: list[Operation] = []
        self.done = dict.fromkeys(((kind, stage) for kind in "FIW" for stage in (self.down, self.up)), 0)

    def add(self, stage: int, *kinds: Kind) -> None:
        """Append the next micro-batch of each kind."""
        for kind in kinds:
            self.order.append(Operation(kind, stage, self.done[kind, stage]))
            self.done[kind, stage] += 1

    def finish(self) -> None:
        """Append the gradients of weights that are left."""
        for stage in (self.up, self.down):
            while self.done["W", stage] < self.done["I", stage]:
                self.add(stage, "W")


def zero_bubble_v(p: int, m: int) -> Orders:
    """Return ZBV: stages down and up again, and backward in two halves, of which that of the weights fills gaps."""
    return [[each for each in _folded(rank, p, m).order if each.micro < m] for rank in range(p)]


def _folded(rank: int, p: int, m: int) -> _Fold:
    fold = _Fold(rank, p)
    down, up, done = fold.down, fold.up, fold.done
    for _ in range(2 * (p - rank) - 1):
        fold.add(down, "F")
    for _ in range(rank):
        fold.add(up, "F")
        fold.add(down, "F")
    for _ in range(p - rank):
        fold.add(up, "F", "I", "W")
    most = max(2 * p - 1, m)
    while done["F", up] < done["F", down] or done["F", down] < most:
        fold.add(down, *(("F", "I", "W") if done["F", down] < most else ("I", "W")))
        fold.add(up, "F", "I", "W")
    for _ in range(rank):
        fold.add(down, "I")
        fold.add(up, "I")
    for _ in range(p - rank):
        fold.add(down, "I", "W")
    fold.finish()
    return fold


def orders(schedule: str, p: int, m: int) -> Orders:
    """Return the operations of each of p GPUs for m micro-batches."""
    if schedule == "gpipe":
        return gpipe(p, m)
    return zero_bubble_v(p, m) if schedule == "zbv" else interleaved(p, m, _CHUNKS[schedule])


@dataclass(frozen=True, slots=True)
class Run:
    """When each operation of a schedule begins and ends."""

    chunks: int
    micro_batches: int
    orders: Orders
    spans: dict[Operation, tuple[float, float]]

    @property
    def end(self) -> float:
        """When the last operation ends."""
        return max(end for _, end in self.spans.values())

    @property
    def idle(self) -> float:
        """The share of the time in which a GPU waits, from the first operation to the last one."""
        return 1 - 3 * self.micro_batches / self.end

    def live(self, rank: int) -> list[tuple[float, float]]:
        """Return when the number of micro-batches with live activations on a GPU changes, and the number."""
        last = "W" if any(each.kind == "W" for each in self.orders[rank]) else "B"
        changes = [(self.spans[each][0], 1) for each in self.orders[rank] if each.kind == "F"]
        changes += [(self.spans[each][1], -1) for each in self.orders[rank] if each.kind == last]
        held, steps = 0, dict[float, float]()
        for time, change in sorted(changes):
            held += change
            steps[time] = held / self.chunks
        return list(steps.items())

    def peaks(self) -> list[float]:
        """Return the most micro-batches that are alive on each GPU."""
        return [max(held for _, held in self.live(rank)) for rank in range(len(self.orders))]


def simulate(schedule: str, p: int, m: int) -> Run:
    """Start each operation as soon as its GPU is free and the operations that it needs have ended.

    Raises:
        ValueError: the operations wait for each other.
    """
    chunks, found = _CHUNKS[schedule], orders(schedule, p, m)
    spans: dict[Operation, tuple[float, float]] = {}
    free, queues = [0.0] * p, [list(order) for order in found]
    while any(queues):
        before = len(spans)
        for rank, queue in enumerate(queues):
            while queue and all(each in spans for each in _needs(queue[0], p * chunks - 1, schedule)):
                operation = queue.pop(0)
                needs = _needs(operation, p * chunks - 1, schedule)
                start = max([free[rank], *(spans[each][1] for each in needs)])
                free[rank] = start + _LENGTH[operation.kind] / chunks
                spans[operation] = (start, free[rank])
        if len(spans) == before:
            raise ValueError(f"the schedule {schedule} of {p} GPUs and {m} micro-batches waits for itself")
    return Run(chunks, m, found, spans)


def _needs(operation: Operation, last: int, schedule: str) -> list[Operation]:
    """Return the operations that must have ended before one starts."""
    kind, stage, micro = operation
    if kind == "F":
        return [Operation("F", stage - 1, micro)] if stage else []
    if kind == "W":
        return [Operation("I", stage, micro)]
    after: list[Operation] = [Operation("I" if schedule == "zbv" else "B", stage + 1, micro)] if stage < last else []
    return [Operation("F", stage, micro), *after]
