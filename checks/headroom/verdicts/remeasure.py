"""What should be measured again: the benchmarks of claims whose evidence is stale or void."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from headroom.records.tree import Tree
from headroom.verdicts.standing import Board


@dataclass(frozen=True, slots=True)
class Again:
    """One benchmark on one hardware class."""

    benchmark: str
    """As ``headroom measure`` takes it."""
    hardware_class: str
    claims: tuple[str, ...]
    """The claims whose evidence is too old; a session for the benchmark measures its other claims as well."""
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """One line for a terminal."""
        many = f"{len(self.claims)} claim{'s' * (len(self.claims) > 1)}"
        return f"{self.benchmark} on {self.hardware_class}, for {many}: {'; '.join(self.reasons)}"


def again(tree: Tree, board: Board, hardware_class: str | None = None) -> Iterator[Again]:
    """What is stale or void, on one class or on all, in the order of names. What is retired is let be."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for claim in tree.measured():
        for name, standing in board.standings[claim.id].items():
            old = standing.age if standing.age and standing.age.word in ("stale", "void") else None
            if old and not claim.retired and hardware_class in (None, name):
                found[claim.benchmark, name][claim.id] = f"{old.word}, {old.reason}"
    for (benchmark, name), old_claims in sorted(found.items()):
        yield Again(benchmark, name, tuple(old_claims), tuple(dict.fromkeys(old_claims.values())))
