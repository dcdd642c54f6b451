"""Turn the log of a probe into polynomials: what each layer saves, and the most that each moment holds."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headroom.memory.tracing.live_storages import Log, Moment, Storage
from headroom.memory.tracing.symbols import Monomial, Polynomial, SymbolTable

_STANDING = ("weights", "optimizer states", "inputs")


@dataclass(slots=True)
class _Live:
    """The live storages with their polynomials, summed by what they belong to."""

    sums: dict[tuple[str, str, str], Counter[Monomial]] = field(default_factory=dict)

    def change(self, key: tuple[str, str, str], size: Polynomial, sign: int) -> None:
        total = self.sums.setdefault(key, Counter())
        for monomial, amount in size.items():
            total[monomial] += sign * amount  # type: ignore[assignment]
            if not total[monomial]:
                del total[monomial]


@dataclass(slots=True)
class Snapshot:
    """The live bytes after an operation, by category, phase and region."""

    number: int
    phase: str
    region: str
    live: dict[tuple[str, str, str], Polynomial]


def replay(log: Log, table: SymbolTable) -> Iterator[tuple[Moment, _Live]]:
    """Yield every moment of a log with the live storages at that time.

    The same object is yielded each time; read it before going on.

    Raises:
        UnknownSizeError: a storage has a size that is no product of the probe's symbols.
    """
    live = _Live()
    keys: dict[int, tuple[tuple[str, str, str], Polynomial]] = {}
    for event in log.events:
        if isinstance(event, Storage):
            if event.category in _STANDING:
                continue
            size = table.storage(event.shape, event.itemsize, event.nbytes)
            keys[event.number] = ((event.category, event.phase, event.region), size)
            live.change(*keys[event.number], 1)
        elif isinstance(event, int):
            if event in keys:
                live.change(*keys.pop(event), -1)
        elif isinstance(event, Moment):
            yield event, live
        else:
            _, number, category, region = event
            (_, phase, _), size = keys[number]
            live.change(*keys[number], -1)
            keys[number] = ((category, phase, region), size)
            live.change(*keys[number], 1)


def subtract(one: Polynomial, other: Polynomial) -> Polynomial:
    """Return the difference of two polynomials."""
    out = {m: one.get(m, 0) - other.get(m, 0) for m in one.keys() | other.keys()}
    return {m: n for m, n in out.items() if n}  # type: ignore[misc]


class Tape:
    """The snapshots of a probe's log, by phase and region.

    Args:
        log: the log of the probe.
        table: the probe's symbols.
    """

    def __init__(self, log: Log, table: SymbolTable) -> None:
        self._at: dict[tuple[str, str], list[Snapshot]] = {}
        for number, (moment, live) in enumerate(replay(log, table)):
            copy = {key: dict(amounts) for key, amounts in live.sums.items() if amounts}
            self._at.setdefault((moment.phase, moment.region), []).append(
                Snapshot(number, moment.phase, moment.region, copy)  # type: ignore[arg-type]
            )

    def cache(self, region: str) -> Polynomial:
        """Return the keys and values that a decode step finds in a layer."""
        first = self.at("forward 0", "before")[0]
        return _total(first, lambda category, _, where: (category, where) == ("cache", region))

    def at(self, phase: str, region: str) -> list[Snapshot]:
        """Return the snapshots of a region in a phase."""
        return self._at.get((phase, region), [])


def gradients(snapshot: Snapshot, region: str) -> Polynomial:
    """Return the gradients of a region that are live at a moment."""
    return _total(snapshot, lambda category, _, where: (category, where) == ("gradients", region))


def held(snapshot: Snapshot, phase: str, region: str) -> Polynomial:
    """Return what a region allocated in a phase and is still live at a moment."""
    return _total(snapshot, lambda category, made, where: (category, made, where) == ("temporary", phase, region))


def all_live(snapshot: Snapshot, gradients: Callable[[str], bool]) -> Polynomial:
    """Return all that is live but weights, and of the gradients those whose region is chosen."""
    return _total(snapshot, lambda category, _, where: category != "gradients" or gradients(where))


def _total(snapshot: Snapshot, chosen: Callable[[str, str, str], bool]) -> Polynomial:
    return add(amounts for key, amounts in snapshot.live.items() if chosen(*key))


def add(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Return the sum of polynomials."""
    out: Counter[Monomial] = Counter()
    for polynomial in polynomials:
        for monomial, amount in polynomial.items():
            out[monomial] += amount  # type: ignore[assignment]
    return {monomial: amount for monomial, amount in out.items() if amount}  # type: ignore[misc]


def as_json(polynomial: Polynomial) -> dict[str, int]:
    """Return a polynomial as it is stored: whole bytes by the product of symbols.

    Raises:
        ValueError: a coefficient is no whole number of bytes.
    """
    out: dict[str, Any] = {}
    for monomial, amount in sorted(polynomial.items()):
        if amount.denominator != 1:
            raise ValueError(f"{amount} bytes of {'*'.join(monomial)} are no whole number")
        out["*".join(monomial)] = int(amount)
    return out
