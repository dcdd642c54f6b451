"""Split a probe's tape into the parts that the closed form puts together again: layers, LM head, what is below."""

from collections.abc import Callable, Mapping
from typing import Any

from headroom.memory.tracing.candidates import largest
from headroom.memory.tracing.symbols import Polynomial
from headroom.memory.tracing.tape import Snapshot, Tape, add, all_live, as_json, gradients, held, subtract


class Composition:
    """The polynomials of one traced job, each without what the composition of the closed form adds to it."""

    def __init__(self, tape: Tape, kinds: list[str], trains: bool) -> None:
        self.tape, self.kinds, self.trains = tape, kinds, trains
        last = tape.at("forward 0", f"layer {len(kinds) - 1}")[-1]
        after = tape.at("backward 0", "head")[0] if trains else last
        self.before = held(after, "forward 0", "before")
        above = self._above(last)
        self.cached = self._by_kind(lambda number: held(above, "forward 0", f"layer {number}"))
        self.saved = self._by_kind(lambda number: held(after, "forward 0", f"layer {number}"))
        self.head_saved = held(after, "forward 0", "head")

    def _above(self, last: Snapshot) -> Snapshot:
        """Return the first operation above the last layer; until then that layer's caller holds its input."""
        moments = [each for each in self.tape.at("forward 0", "head") if each.number > last.number]
        return moments[1]  # the first one is the hook that ends the layer

    def _typical(self, kind: str) -> int:
        """Return a layer of a kind that is neither the first nor the last of the model."""
        inner = [n for n, k in enumerate(self.kinds) if k == kind and 0 < n < len(self.kinds) - 1]
        return inner[len(inner) // 2]

    def _by_kind(self, read: Callable[[int], Polynomial]) -> dict[str, Polynomial]:
        return {kind: read(self._typical(kind)) for kind in dict.fromkeys(self.kinds)}

    def _below(self, number: int, per_layer: Mapping[str, Polynomial]) -> Polynomial:
        return add([self.before, *(per_layer[kind] for kind in self.kinds[:number])])

    def _without(self, phase: str, region: str, base: Polynomial, gradients: Callable[[str], bool]) -> list[Polynomial]:
        return largest(subtract(all_live(s, gradients), base) for s in self.tape.at(phase, region))

    def forward(self, kind: str) -> list[Polynomial]:
        """Return the candidates of a layer's forward pass."""
        number = self._typical(kind)
        base = add([self._below(number, self.cached), *self._caches(number + 1)])
        return self._without("forward 0", f"layer {number}", base, self._none)

    def _caches(self, first: int) -> list[Polynomial]:
        """Return the keys and values that a decode step finds in the layers from a number on."""
        return [self.tape.cache(f"layer {number}") for number in range(first, len(self.kinds))]

    def backward(self, kind: str, pass_: int) -> list[Polynomial]:
        """Return the candidates of a layer's backward pass with the gradients of that layer."""
        number = self._typical(kind)
        base = self._below(number, self.saved)
        own = f"layer {number}"
        return self._without(f"backward {pass_}", own, base, lambda where: pass_ == 0 and where == own)

    @staticmethod
    def _all(_: str) -> bool:
        return True

    @staticmethod
    def _none(_: str) -> bool:
        return False

    def head(self) -> dict[str, list[Polynomial]]:
        """Return the candidates of the LM head and the loss."""
        count = len(self.kinds)
        out = {"forward": self._without("forward 0", "head", self._below(count, self.cached), self._none)}
        for name, number in self._passes():
            base = self._below(count, self.saved)
            out[name] = self._without(f"backward {number}", "head", base, self._all if number == 0 else self._none)
        return out

    def end(self) -> dict[str, list[Polynomial]]:
        """Return the candidates of what follows the first layer's backward pass."""
        return {name: self._below_first_layer(number) or [self.before] for name, number in self._passes()}

    def _below_first_layer(self, number: int) -> list[Polynomial]:
        """Return the candidates below the first layer with what is saved before it, without the head's gradient."""
        moments = self.tape.at(f"backward {number}", "end")
        if not moments:
            return []
        head = gradients(moments[0], "outside")
        counted = {"outside"} if number == 0 else set()
        return largest(subtract(all_live(s, counted.__contains__), head if counted else {}) for s in moments)

    def _passes(self) -> list[tuple[str, int]]:
        return [("backward", 0), ("backward_accumulated", 1)] if self.trains else []

    def record(self) -> dict[str, Any]:
        """Return the coefficients of the job as they are stored."""
        layers = {}
        for kind in dict.fromkeys(self.kinds):
            moments = {"forward": self.forward(kind)}
            moments |= {name: self.backward(kind, number) for name, number in self._passes()}
            cache = self.tape.cache(f"layer {self._typical(kind)}")
            layers[kind] = ({"cache": as_json(cache)} if cache else {}) | {
                "cached": as_json(self.cached[kind]),
                "saved": as_json(self.saved[kind]),
                **_lists(moments),
            }
        record = {"before": as_json(self.before), "layers": layers}
        record["head"] = {"saved": as_json(self.head_saved), **_lists(self.head())}
        return record | ({"end": _lists(self.end())} if self.trains else {})


def _lists(moments: Mapping[str, list[Polynomial]]) -> dict[str, Any]:
    return {name: [as_json(one) for one in candidates] for name, candidates in moments.items()}
