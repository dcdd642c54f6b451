"""What a modelled claim comes to, and how far it is off where somebody has measured."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from headroom.maths.quantities import Quantity
from headroom.records.claims import MeasuredClaim, Point
from headroom.records.evidence import place
from headroom.records.modelled_claims import MeasuredFigure, ModelledClaim, Validation, Variable
from headroom.records.tree import Tree
from headroom.verdicts.claim_figures import range_of, value_of
from headroom.verdicts.gates import GATES
from headroom.verdicts.judge import PointVerdict


class Measured(Protocol):
    """Where a claim stands on a hardware class, as far as a formula asks."""

    def at(self, point: Point) -> PointVerdict | None:
        """The verdict at a point."""


Standings = Mapping[str, Mapping[str, Measured]]
"""Where each claim stands, by hardware class."""


class UnmeasuredError(LookupError):
    """What a formula needs has not been measured, or its session does not count."""


@dataclass(frozen=True, slots=True)
class Check:
    """The formula beside one measurement, both in the unit that is predicted."""

    validation: Validation
    predicted: Quantity | None
    measured: Quantity | None
    missing: str = ""
    """Why one of the two is not known."""

    @property
    def error(self) -> float | None:
        """By how much of the measured value the predicted one is too large; None where one is not known."""
        if self.predicted is None or self.measured is None or not self.measured.value:
            return None
        return self.predicted.value / self.measured.value - 1

    @property
    def holds(self) -> bool | None:
        """Whether the formula is right within the tolerance; None where that is not known."""
        return None if self.error is None else abs(self.error) <= self.validation.tolerance


@dataclass(frozen=True, slots=True)
class Computed:
    """A modelled claim, evaluated and held to every measurement that it names."""

    status: Literal["modelled", "contradicted", "unmeasured"]
    result: Quantity | None
    """In the unit that it predicts; None where a variable is not known."""
    checks: tuple[Check, ...]
    faults: tuple[tuple[str, str], ...]
    """What is wrong with the record itself: the field, and what."""

    @property
    def known(self) -> tuple[Check, ...]:
        """The points at which the formula was held to a measurement."""
        return tuple(check for check in self.checks if check.error is not None)

    @property
    def largest_error(self) -> float:
        """How far the formula is off where it is off most; 0 where nothing is measured."""
        return max((abs(check.error) for check in self.known if check.error is not None), default=0.0)

    @property
    def reason(self) -> str:
        """How often it was held to evidence, in a few words."""
        if not self.known:
            return "not held to a measurement yet"
        points = "1 point" if len(self.known) == 1 else f"{len(self.known)} points"
        off = f"largest error {self.largest_error * 100:.2g} %"
        outside = sum(check.holds is False for check in self.known)
        return f"{'held to' if outside else 'validated at'} {points}, {off}" + (
            f", {outside} beyond the tolerance" if outside else ""
        )


def models(tree: Tree, standings: Standings) -> dict[str, Computed]:
    """Every modelled claim of a tree, evaluated."""
    found = (claim for claim in tree.claims.values() if isinstance(claim, ModelledClaim))
    return {claim.id: _computed(claim, tree, standings) for claim in found}


def evaluate(
    claim: ModelledClaim,
    tree: Tree,
    standings: Standings,
    at: Mapping[str, float | MeasuredFigure] = {},
) -> Quantity:
    """What the formula comes to in the unit that it predicts, some variables being others than the claim says.

    Raises:
        UnmeasuredError: a figure that it needs is not measured.
        LookupError: there is no such claim, class, point or fact.
        ValueError: a variable is out of bounds, or the units do not fit.
    """
    values = {}
    for name, variable in claim.variables.items():
        values[name], plain = _variable(variable, at.get(name), tree, standings, name)
        bound = claim.validity.bounds.get(name)
        if bound and not bound.holds(plain):
            raise ValueError(f"`{name}` is {plain:,g}, and the claim is about {bound}")
    found = claim.expression.evaluate(values)
    try:
        return found.to(claim.predicts.unit)
    except ValueError as error:
        raise ValueError(f"the formula comes to something else: {error}") from error


def _variable(
    variable: Variable, instead: float | MeasuredFigure | None, tree: Tree, standings: Standings, name: str
) -> tuple[Quantity, float]:
    """What a variable is, and as a number in its own unit."""
    if isinstance(instead, MeasuredFigure):
        return _plainly(*measured(instead, tree, standings))
    if variable.unit is not None and variable.value is not None:
        value = variable.value if instead is None else instead
        return Quantity.of(value, variable.unit), value
    if instead is not None:
        raise ValueError(f"`{name}` has no unit of its own, so it cannot be {instead:,g}; name a figure")
    if variable.measured is not None:
        return _plainly(*measured(variable.measured, tree, standings))
    sheet, _, figure = (variable.fact or "").partition(".")
    cell = tree.facts[sheet].figures.get(figure) if sheet in tree.facts else None
    if cell is None:
        raise LookupError(f"there is no fact `{variable.fact}`")
    return Quantity.of(cell.value, cell.unit), cell.value


def _plainly(found: Quantity, unit: str) -> tuple[Quantity, float]:
    return found, found.to(unit).value


def measured(wanted: MeasuredFigure, tree: Tree, standings: Standings) -> tuple[Quantity, str]:
    """A figure of a measured claim with the range that it may lie in, and its unit.

    Raises:
        UnmeasuredError: nobody has measured it, or the session does not count.
        LookupError: there is no such claim, class or point.
    """
    claim = tree.claims.get(wanted.claim)
    if not isinstance(claim, MeasuredClaim):
        raise LookupError(f"`{wanted.claim}` is no measured claim")  # noqa: TRY004 - the record is wrong, not a type
    if wanted.hardware not in tree.classes:
        raise LookupError(f"there is no hardware class `{wanted.hardware}`")
    if place(wanted.point) not in map(place, claim.scope.points):
        raise LookupError(f"`{wanted.claim}` has no such point: name all of one of {[*map(dict, claim.scope.points)]}")
    standing = standings[claim.id].get(wanted.hardware)
    point = standing.at(wanted.point) if standing else None
    if point is None or point.n == 0:
        raise UnmeasuredError(f"`{wanted.claim}` is not measured there")
    if point.reason in GATES:
        raise UnmeasuredError(f"the session of `{wanted.claim}` does not count: {point.reason}")
    value, unit = value_of(wanted.figure, point, claim)
    if not math.isfinite(value):
        raise UnmeasuredError(f"the session of `{wanted.claim}` gives no figure: {point.reason}")
    return Quantity.of(value, unit, *range_of(wanted.figure, point, claim)), unit


def _computed(claim: ModelledClaim, tree: Tree, standings: Standings) -> Computed:
    faults: list[tuple[str, str]] = []
    result = None
    try:
        result = evaluate(claim, tree, standings)
    except UnmeasuredError:
        pass
    except (LookupError, ValueError) as error:
        faults.append(("formula", str(error)))
    checks = [_check(claim, each, tree, standings) for each in claim.validated_by]
    known = {fault for _, fault in faults}
    faults += [(f"validated_by.{i}", fault) for i, (_, fault) in enumerate(checks) if fault and fault not in known]
    faults += _fitted(claim, tree)
    found = tuple(check for check, _ in checks)
    held = {check.holds for check in found}
    status: Literal["modelled", "contradicted", "unmeasured"] = "modelled"
    if False in held:
        status = "contradicted"
    elif True not in held or result is None:
        status = "unmeasured"
    return Computed(status, result, found, tuple(faults))


def _check(claim: ModelledClaim, validation: Validation, tree: Tree, standings: Standings) -> tuple[Check, str]:
    """A formula beside a measurement, or what is wrong with the record."""
    predicted = found = None
    try:
        predicted = evaluate(claim, tree, standings, validation.at)
        found = measured(validation, tree, standings)[0].to(claim.predicts.unit)
    except UnmeasuredError as error:
        return Check(validation, predicted, None, str(error)), ""
    except (LookupError, ValueError) as error:
        return Check(validation, predicted, None, "its record is wrong"), str(error)
    return Check(validation, predicted, found), ""


def _fitted(claim: ModelledClaim, tree: Tree) -> Iterator[tuple[str, str]]:
    """Evidence that a formula was fitted on and is held to as well, also under the name of another claim."""
    fitted = {same for each in claim.fitted_on for same in _measurements(each, tree)}
    for i, each in enumerate(claim.validated_by):
        if fitted.intersection(_measurements(each, tree)):
            yield f"validated_by.{i}", "the formula was fitted on this very measurement"


def _measurements(figure: MeasuredFigure, tree: Tree) -> Iterator[object]:
    """What a figure comes from: a benchmark's arms in a metric, at a point, on a class."""
    claim = tree.claims.get(figure.claim)
    if isinstance(claim, MeasuredClaim):
        arms = {"subject": (claim.subject,), "baseline": (claim.baseline,)}
        for arm in arms.get(figure.figure, (claim.subject, claim.baseline)):
            yield claim.benchmark, claim.metric.name, arm, figure.hardware, place(figure.point)
