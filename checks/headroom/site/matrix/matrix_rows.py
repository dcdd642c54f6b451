"""The rows and columns of the matrix: a method or variant per row, and hardware with evidence per column."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from headroom.records import MeasuredClaim, ReportedClaim
from headroom.records.methods import Method, Variant
from headroom.site.matrix import outcomes
from headroom.site.matrix.outcomes import Outcome
from headroom.site.site_data import SiteData

Goal = Literal["speed", "memory", "quality"]
GOALS: tuple[Goal, ...] = get_args(Goal)
ELSEWHERE = ""
"""The hardware of cited and computed results, which belong to no column of one hardware."""
_OWN_COLUMN = 3
"""Hardware with evidence for fewer rows shares the column of other GPUs."""
Known = Mapping[Goal, tuple[Outcome, ...]]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The results of a method, or of one of its variants, by hardware."""

    method: Method
    variant: Variant | None
    known: Mapping[str, Known]
    """The outcomes by hardware and goal, in the method's order; hardware without any is left out."""

    @property
    def name(self) -> str:
        """Return the row's name."""
        return self.variant.name if self.variant else self.method.name


def rows(site: SiteData) -> Iterator[MatrixRow]:
    """Yield each method's own row and its variants' rows, sorted by the method's name."""
    for method in sorted(site.tree.methods.values(), key=lambda method: (method.name.lower(), method.id)):
        varied = {claim for variant in method.variants for claim in variant.claims}
        listed = {claim for claims in method.claims.values() for claim in claims}
        if not varied or listed - varied:
            yield MatrixRow(method, None, _known(site, method, listed - varied))
        for variant in method.variants:
            yield MatrixRow(method, variant, _known(site, method, set(variant.claims)))


def _known(site: SiteData, method: Method, wanted: set[str]) -> Mapping[str, Known]:
    found: dict[str, dict[Goal, tuple[Outcome, ...]]] = {}
    for goal in GOALS:
        names = [name for name in method.claims.get(goal, ()) if name in wanted]
        for hardware, outcome in _outcomes(site, method, names):
            goals = found.setdefault(hardware, {})
            goals[goal] = (*goals.get(goal, ()), outcome)
    return found


def _outcomes(site: SiteData, method: Method, names: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Yield each claim's outcomes with their hardware."""
    for claim in outcomes.active(site, names):
        if isinstance(claim, MeasuredClaim):
            seen = ((name, outcomes.measured(site, method, claim, name)) for name in site.tree.classes)
            yield from ((name, found) for name, found in seen if found.here and found.status != "unmeasured")
        elif isinstance(claim, ReportedClaim):
            for name in outcomes.published_hardware(site, claim):
                if found := outcomes.published(site, claim, name):
                    yield name, found
        elif found := outcomes.reported(site, claim):
            yield ELSEWHERE, found


def hardware(site: SiteData, every: list[MatrixRow]) -> dict[str, str]:
    """Return the name of each hardware with evidence: measured classes first, then by the number of rows."""
    counts = Counter(name for row in every for name in row.known if name)
    measured = [name for name in site.tree.classes if name in counts]
    published = sorted((name for name in counts if name not in measured), key=lambda name: (-counts[name], name))
    return {name: _title(site, name) for name in (*measured, *published)}


def _title(site: SiteData, name: str) -> str:
    return site.short_name(name) if name in site.tree.classes else name.replace("-", " ").upper()


def columns(site: SiteData, every: list[MatrixRow]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the title and the hardware of each column, cited and computed results last."""
    counts = Counter(name for row in every for name in row.known)
    named = hardware(site, every)
    own = [name for name in named if name in site.tree.classes or counts[name] >= _OWN_COLUMN]
    found: list[tuple[str, tuple[str, ...]]] = [(named[name], (name,)) for name in own]
    if others := tuple(name for name in named if name not in own):
        found.append(("Other GPUs", others))
    return [*found, ("Cited or computed", (ELSEWHERE,))] if counts[ELSEWHERE] else found
