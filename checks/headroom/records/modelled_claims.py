"""Modelled claims: a formula with units, and the measurements that it is held to."""

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
    """One figure of a measured claim: what ``claim:ID#FIGURE@CLASS,AXIS=VALUE`` is in a text."""

    claim: ClaimId
    figure: FigureName
    hardware: Slug
    point: dict[Name, Value] = Field(default_factory=dict)
    """The point of its sweep; empty where it has none."""


class Variable(Record):
    """What one name of the formula stands for: a value with its unit, a fact, or a measured figure."""

    meaning: Text
    value: float | None = None
    unit: Text | None = None
    """Of ``value``: ``B/parameter``, ``tokens``, ``1``."""
    fact: FactName | None = None
    """A figure of checks/facts/, as ``sheet.figure``; it brings its unit."""
    measured: MeasuredFigure | None = None
    """A figure of a claim; it brings its unit, and the range that it may lie in."""

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str | None) -> str | None:
        return unit if unit is None else _unit(unit)

    @model_validator(mode="after")
    def _one_of_three(self) -> "Variable":
        if [self.value, self.fact, self.measured].count(None) != 2:  # noqa: PLR2004 - of three
            raise ValueError("stands for nothing, or for two things; write one of value, fact and measured")
        if (self.value is None) != (self.unit is None):
            raise ValueError("a unit belongs to a value, and only to one; add or remove it")
        return self


class Bound(Record):
    """Between which values of a variable the formula is meant to hold, in the variable's unit."""

    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> "Bound":
        if self.at_least is None and self.at_most is None:
            raise ValueError("bounds nothing; write at_least or at_most, or remove it")
        return self

    def holds(self, value: float) -> bool:
        """Whether a value lies within."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{words} {end:,g}" for words, end in ends if end is not None)


class Validity(Record):
    """When the formula is meant to hold."""

    words: Text
    bounds: dict[Name, Bound] = Field(default_factory=dict)


class Prediction(Record):
    """What the formula comes to."""

    name: Text
    """As a sentence names it: "the peak of a step"."""
    unit: Text

    @field_validator("unit")
    @classmethod
    def _known(cls, unit: str) -> str:
        return _unit(unit)


class Validation(MeasuredFigure):
    """A measurement that the formula is held to."""

    at: dict[Name, float | MeasuredFigure] = Field(default_factory=dict)
    """What the variables are at that point where they are not what the claim says, each in its own unit."""
    tolerance: float = Field(gt=0, le=0.5)
    """How far, relatively, the formula may be off there."""


class ModelledClaim(Statement):
    """A claim that is computed, and held to evidence that it was not made from."""

    kind: Literal["modelled"]
    formula: Text
    variables: dict[Name, Variable] = Field(min_length=1)
    predicts: Prediction
    validity: Validity
    fitted_on: tuple[MeasuredFigure, ...] = ()
    """Measurements that a value of a variable was chosen by; empty where each follows from shapes and formats."""
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
            raise ValueError(f"the formula uses `{name}`, which is no variable; add it to variables")
        for name in sorted(known - used):
            raise ValueError(f"the formula does not use the variable `{name}`; remove it")
        overridden = {name for validation in self.validated_by for name in validation.at}
        for name in sorted({*self.validity.bounds, *overridden} - known):
            raise ValueError(f"`{name}` is no variable of the formula; correct the name")
        return self

    def figures(self) -> Iterator[MeasuredFigure]:
        """Every measured figure that the claim leans on: as a variable, in a validation, or where it was fitted."""
        yield from (variable.measured for variable in self.variables.values() if variable.measured)
        yield from self.fitted_on
        for validation in self.validated_by:
            yield validation
            yield from (value for value in validation.at.values() if isinstance(value, MeasuredFigure))

    @property
    def expression(self) -> Expression:
        """The formula, read."""
        return expressions.parse(self.formula)
