"""List the benchmarks to measure again, because evidence of their claims is stale or void."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from headroom.records.tree import Tree
from headroom.verdicts.standing import Board


@dataclass(frozen=True, slots=True)
class StaleBenchmark:
    """A benchmark with stale or void evidence on one hardware class."""

    benchmark: str
    """Its name, an argument of ``headroom measure``."""
    hardware_class: str
    claims: tuple[str, ...]
    """The claims with stale or void evidence; a session of the benchmark measures its other claims as well."""
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """Return one line for a terminal."""
        many = f"{len(self.claims)} claim{'s' * (len(self.claims) > 1)}"
        return f"{self.benchmark} on {self.hardware_class}, for {many}: {'; '.join(self.reasons)}"


def stale_benchmarks(tree: Tree, board: Board, hardware_class: str | None = None) -> Iterator[StaleBenchmark]:
    """Yield the benchmarks with stale or void evidence, on one class or on all, sorted; skip retired claims."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for claim in tree.measured():
        for name, standing in board.standings[claim.id].items():
            old = standing.age if standing.age and standing.age.word in ("stale", "void") else None
            if old and not claim.retired and hardware_class in (None, name):
                found[claim.benchmark, name][claim.id] = f"{old.word}, {old.reason}"
    for (benchmark, name), old_claims in sorted(found.items()):
        yield StaleBenchmark(benchmark, name, tuple(old_claims), tuple(dict.fromkeys(old_claims.values())))
