"""Modelled claims: a formula with units, and the measurements that validate it."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from headroom.maths import expressions
from headroom.maths.expressions import Expression
from headroom.maths.quantities import Unit
from headroom.records.base import ClaimId, Name, Record, Slug, Text, Value
from headroom.records.claim_base import Statement

FactName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\.[a-z][a-z0-9_]*$", max_length=120)]
FigureName = Literal["ratio", "slowdown", "change", "subject", "baseline", "difference", "saving"]


def _unit(unit: str) -> str:
    Unit.parse(unit)
    return unit


class MeasuredFigure(Record):
    """One figure of a measured claim, as a page links it with ``claim:ID#FIGURE@CLASS,AXIS=VALUE``."""

    claim: ClaimId
    figure: FigureName
    hardware: Slug
    point: dict[Name, Value] = Field(default_factory=dict)
    """The point of the claim's sweep; empty if it has no sweep."""


class Variable(Record):
    """A variable of the formula: a value with its unit, a fact, or a measured figure."""

    meaning: Text
    value: float | None = None
    unit: Text | None = None
    """The unit of ``value``: ``B/parameter``, ``tokens``, ``1``."""
    fact: FactName | None = None
    """A figure of checks/facts/, as ``sheet.figure``, with its unit."""
    measured: MeasuredFigure | None = None
    """A figure of a claim, with its unit and confidence interval."""

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str | None) -> str | None:
        return unit if unit is None else _unit(unit)

    @model_validator(mode="after")
    def _one_of_three(self) -> "Variable":
        if [self.value, self.fact, self.measured].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("a variable has exactly one of `value`, `fact` and `measured`; add or remove one")
        if (self.value is None) != (self.unit is None):
            raise ValueError("`value` needs `unit`, and `unit` needs `value`; add the other one, or remove both")
        return self


class Bound(Record):
    """The range of a variable in which the formula is valid, in the variable's unit."""

    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> "Bound":
        if self.at_least is None and self.at_most is None:
            raise ValueError("the bound has neither at_least nor at_most; add one, or remove the bound")
        return self

    def holds(self, value: float) -> bool:
        """Return whether a value is within the bound."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{words} {end:,g}" for words, end in ends if end is not None)


class Validity(Record):
    """The conditions under which the formula is valid."""

    words: Text
    bounds: dict[Name, Bound] = Field(default_factory=dict)


class Prediction(Record):
    """The quantity that the formula predicts."""

    name: Text
    """The name of the quantity in a sentence: "the peak of a step"."""
    unit: Text

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str) -> str:
        return _unit(unit)


class Validation(MeasuredFigure):
    """A measurement that the prediction is compared with."""

    at: dict[Name, float | MeasuredFigure] = Field(default_factory=dict)
    """The variables whose values at that point differ from the claim's, each in its own unit."""
    tolerance: float = Field(gt=0, le=0.5)
    """The largest relative error of the formula that is accepted there."""


class ModelledClaim(Statement):
    """A claim that a formula computes and independent measurements validate."""

    kind: Literal["modelled"]
    formula: Text
    variables: dict[Name, Variable] = Field(min_length=1)
    predicts: Prediction
    validity: Validity
    fitted_on: tuple[MeasuredFigure, ...] = ()
    """The measurements that values of variables were fitted on; empty if they follow from shapes and formats."""
    validated_by: tuple[Validation, ...] = Field(min_length=1)

    @field_validator("formula")
    @classmethod
    def _arithmetic(cls, formula: str) -> str:
        expressions.parse(formula)
        return formula

    @model_validator(mode="after")
    def _of_its_variables(self) -> "ModelledClaim":
        used, known = self.expression.names, set(self.variables)
        for name in sorted(used - known):
            raise ValueError(f"the formula uses `{name}`, which is not in `variables`; add it there")
        for name in sorted(known - used):
            raise ValueError(f"the formula does not use the variable `{name}`; use it, or remove it")
        overridden = {name for validation in self.validated_by for name in validation.at}
        for name in sorted({*self.validity.bounds, *overridden} - known):
            raise ValueError(f"`{name}` is not a variable of the formula; correct the name")
        return self

    def figures(self) -> Iterator[MeasuredFigure]:
        """Yield every measured figure that the claim uses: as a variable, for a fit or in a validation."""
        yield from (variable.measured for variable in self.variables.values() if variable.measured)
        yield from self.fitted_on
        for validation in self.validated_by:
            yield validation
            yield from (value for value in validation.at.values() if isinstance(value, MeasuredFigure))

    @property
    def expression(self) -> Expression:
        """The parsed formula."""
        return expressions.parse(self.formula)
