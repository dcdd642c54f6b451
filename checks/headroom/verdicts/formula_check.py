"""Evaluate modelled claims, and compare their formulas with measurements."""

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
    """The verdicts of a claim on one hardware class, as far as a formula needs them."""

    def at(self, point: Point) -> PointVerdict | None:
        """Return the verdict at a point."""


Standings = Mapping[str, Mapping[str, Measured]]
"""The standing of each claim, by claim id and hardware class."""


class UnmeasuredError(LookupError):
    """A figure that a formula needs has not been measured, or its session does not count."""


@dataclass(frozen=True, slots=True)
class Check:
    """A formula's value and one measurement, both in the predicted unit."""

    validation: Validation
    predicted: Quantity | None
    measured: Quantity | None
    missing: str = ""
    """Why one of the two values is unknown."""

    @property
    def error(self) -> float | None:
        """Return the relative error of the prediction, positive if it is too large; None if a value is unknown."""
        if self.predicted is None or self.measured is None or not self.measured.value:
            return None
        return self.predicted.value / self.measured.value - 1

    @property
    def holds(self) -> bool | None:
        """Return whether the error is within the tolerance; None if the error is unknown."""
        return None if self.error is None else abs(self.error) <= self.validation.tolerance


@dataclass(frozen=True, slots=True)
class Computed:
    """A modelled claim, evaluated and compared with every measurement that validates it."""

    status: Literal["modelled", "contradicted", "unmeasured"]
    result: Quantity | None
    """The formula's value in the predicted unit; None if a variable is unknown."""
    checks: tuple[Check, ...]
    faults: tuple[tuple[str, str], ...]
    """Errors in the record: the field and the message."""

    @property
    def known(self) -> tuple[Check, ...]:
        """Return the checks with a known error."""
        return tuple(check for check in self.checks if check.error is not None)

    @property
    def largest_error(self) -> float:
        """Return the largest absolute relative error; 0 if nothing is measured."""
        return max((abs(check.error) for check in self.known if check.error is not None), default=0.0)

    @property
    def reason(self) -> str:
        """Return a short text: the number of points compared, and the largest error."""
        if not self.known:
            return "not compared with a measurement yet"
        points = "1 point" if len(self.known) == 1 else f"{len(self.known)} points"
        off = f"largest error {self.largest_error * 100:.2g} %"
        outside = sum(check.holds is False for check in self.known)
        return f"{'compared' if outside else 'validated'} at {points}, {off}" + (
            f", {outside} outside the tolerance" if outside else ""
        )


def models(tree: Tree, standings: Standings) -> dict[str, Computed]:
    """Evaluate every modelled claim of a tree; return the results by claim id."""
    found = (claim for claim in tree.claims.values() if isinstance(claim, ModelledClaim))
    return {claim.id: _computed(claim, tree, standings) for claim in found}


def evaluate(
    claim: ModelledClaim,
    tree: Tree,
    standings: Standings,
    overrides: Mapping[str, float | MeasuredFigure] = {},
) -> Quantity:
    """Evaluate a claim's formula in the predicted unit, with some variables overridden.

    Raises:
        UnmeasuredError: a figure that the formula needs is not measured.
        LookupError: a claim, class, point or fact does not exist.
        ValueError: a variable is out of bounds, or the units do not match.
    """
    values = {}
    for name, variable in claim.variables.items():
        values[name], number = _variable(variable, overrides.get(name), tree, standings, name)
        bound = claim.validity.bounds.get(name)
        if bound and not bound.holds(number):
            raise ValueError(f"`{name}` is {number:,g}, but the claim is valid only for {bound}")
    found = claim.expression.evaluate(values)
    try:
        return found.to(claim.predicts.unit)
    except ValueError as error:
        raise ValueError(f"the formula's unit is not the predicted unit: {error}") from error


def _variable(
    variable: Variable, override: float | MeasuredFigure | None, tree: Tree, standings: Standings, name: str
) -> tuple[Quantity, float]:
    """Return a variable's quantity, and its number in its own unit."""
    if isinstance(override, MeasuredFigure):
        return _with_number(*measured(override, tree, standings))
    if variable.unit is not None and variable.value is not None:
        value = variable.value if override is None else override
        return Quantity.of(value, variable.unit), value
    if override is not None:
        raise ValueError(
            f"`{name}` has no unit of its own, so it cannot be set to {override:,g}; name a figure instead"
        )
    if variable.measured is not None:
        return _with_number(*measured(variable.measured, tree, standings))
    sheet, _, figure = (variable.fact or "").partition(".")
    cell = known.figures.get(figure) if (known := tree.sheet(sheet)) else None
    if cell is None:
        raise LookupError(f"there is no fact `{variable.fact}`")
    return Quantity.of(cell.value, cell.unit), cell.value


def _with_number(found: Quantity, unit: str) -> tuple[Quantity, float]:
    return found, found.to(unit).value


def measured(wanted: MeasuredFigure, tree: Tree, standings: Standings) -> tuple[Quantity, str]:
    """Return a figure of a measured claim with its range, and its unit.

    Raises:
        UnmeasuredError: the figure is not measured, or its session does not count.
        LookupError: the claim, class or point does not exist.
    """
    claim = tree.claims.get(wanted.claim)
    if not isinstance(claim, MeasuredClaim):
        raise LookupError(f"`{wanted.claim}` is not a measured claim")  # noqa: TRY004 - the record is wrong, not a type
    if wanted.hardware not in tree.classes:
        raise LookupError(f"there is no hardware class `{wanted.hardware}`")
    if place(wanted.point) not in map(place, claim.scope.points):
        raise LookupError(
            f"`{wanted.claim}` has no such point: give all values of one of {[*map(dict, claim.scope.points)]}"
        )
    standing = standings[claim.id].get(wanted.hardware)
    point = standing.at(wanted.point) if standing else None
    if point is None or point.n == 0:
        raise UnmeasuredError(f"`{wanted.claim}` is not measured at this point")
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
    """Compare a formula with a measurement; return the check, and the record's fault or an empty text."""
    predicted = found = None
    try:
        predicted = evaluate(claim, tree, standings, validation.at)
        found = measured(validation, tree, standings)[0].to(claim.predicts.unit)
    except UnmeasuredError as error:
        return Check(validation, predicted, None, str(error)), ""
    except (LookupError, ValueError) as error:
        return Check(validation, predicted, None, "the record has an error"), str(error)
    return Check(validation, predicted, found), ""


def _fitted(claim: ModelledClaim, tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield the validating measurements that the formula was fitted on, also under another claim's name."""
    fitted = {same for each in claim.fitted_on for same in _measurements(each, tree)}
    for i, each in enumerate(claim.validated_by):
        if fitted.intersection(_measurements(each, tree)):
            yield f"validated_by.{i}", "the formula was fitted on this measurement"


def _measurements(figure: MeasuredFigure, tree: Tree) -> Iterator[object]:
    """Yield the measurements of a figure: a benchmark's arm in a metric, at a point, on a hardware class."""
    claim = tree.claims.get(figure.claim)
    if isinstance(claim, MeasuredClaim):
        arms = {"subject": (claim.subject,), "baseline": (claim.baseline,)}
        for arm in arms.get(figure.figure, (claim.subject, claim.baseline)):
            yield claim.benchmark, claim.metric.name, arm, figure.hardware, place(figure.point)
