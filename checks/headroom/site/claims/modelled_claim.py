"""Pages and sentences about modelled claims: the formula, its result, and its error against measurements."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from headroom.io.markdown_escape import text
from headroom.maths.quantities import Quantity
from headroom.maths.units import UNITS, human_readable
from headroom.records import MeasuredClaim, ModelledClaim
from headroom.records.modelled_claims import MeasuredFigure, Validation, Variable
from headroom.site.claims import phrasing
from headroom.site.markdown_blocks import badge, bullets, heading, not_claimed, percent, signed, table
from headroom.site.site_data import PageContext, SiteData, claim_page
from headroom.verdicts import Check, Computed
from headroom.verdicts.formula_check import measured

_WORDS = {"modelled": "computed", "contradicted": "computed, contradicted", "unmeasured": "computed, not validated"}


def word(computed: Computed) -> str:
    """Return the badge's text."""
    return _WORDS[computed.status]


def amount(value: float, unit: str) -> str:
    """Return a value in a readable unit."""
    if not math.isfinite(value):
        return "without a bound"
    if unit not in UNITS:
        return f"{value:,.4g} {unit}"
    scale = UNITS[unit][1] if UNITS[unit][0] in ("bytes", "time") else 1.0
    base = {"bytes": "B", "time": "s"}.get(UNITS[unit][0], unit)
    return human_readable(value * scale, base)


def result(claim: ModelledClaim, computed: Computed) -> str:
    """Return the formula's result, with its range if a variable has one."""
    found, unit = computed.result, claim.predicts.unit
    if found is None:
        return "not known yet"
    return f"{amount(found.value, unit)}{_range(found, unit, ', ')}"


def _range(found: Quantity, unit: str, before: str) -> str:
    """Return the range of a value, as percent if both ends print alike."""
    if found.low == found.high:
        return ""
    low, high = amount(found.low, unit), amount(found.high, unit)
    if low == high:
        return f"{before}within {percent((found.high - found.low) / abs(found.value))}"
    return f"{before}from {low} to {high}"


def sentence(claim: ModelledClaim, computed: Computed) -> str:
    """Return one sentence: the claim is computed, its result, and how it compares with measurements."""
    off = " The evidence disagrees." if computed.status == "contradicted" else ""
    return f"Computed, not measured: {claim.predicts.name}, {result(claim, computed)}; {computed.reason}.{off}"


def render(claim: ModelledClaim, site: SiteData, page: PageContext) -> Iterator[str]:
    """Yield the sections of a modelled claim's page below the title."""
    computed = site.board.models[claim.id]
    yield f"{badge(computed.status, word(computed))} {text(sentence(claim, computed))}"
    yield heading("Formula")
    yield f"``` {{.text .formula}}\n{claim.formula}\n```"
    yield table(
        ("name", "what it is", "value", "from"),
        [(text(name), text(each.meaning), *_variable(each, site, page)) for name, each in claim.variables.items()],
    )
    yield f"{text(claim.predicts.name[0].upper() + claim.predicts.name[1:])}: **{text(result(claim, computed))}**."
    if computed.result and computed.result.low != computed.result.high:
        yield "The range covers the formula's results for all measured figures within their own ranges."
    yield heading("Compared with measurements")
    if len(classes := _classes(claim, site)) == 1:
        yield f"All on {text(classes[0])}:"
    yield table(
        ("measured", "where", "with", "predicted", "measured", "error", "allowed"),
        [_check(claim, check, site, page) for check in computed.checks],
    )
    fitted = "; ".join(_named(each, site, page) for each in claim.fitted_on)
    yield (f"Fitted on {fitted}." if fitted else "Not fitted: the record names no measurement that set a value.")
    yield heading("When it holds")
    bounds = [text(f"{name}: {bound}") for name, bound in claim.validity.bounds.items()]
    yield bullets([text(claim.validity.words), *bounds])
    yield from not_claimed(claim, page)


def _variable(variable: Variable, site: SiteData, page: PageContext) -> tuple[str, str]:
    """Return a variable's value and its source."""
    if variable.unit is not None and variable.value is not None:
        unit = "" if variable.unit == "1" else f" {variable.unit}"
        return text(f"{variable.value:,.12g}{unit}"), "given"
    if variable.measured is not None:
        return _figure_value(variable.measured, site), _named(variable.measured, site, page)
    sheet_id, _, figure = (variable.fact or "").partition(".")
    sheet = site.tree.sheet(sheet_id)
    cell = sheet.figures.get(figure) if sheet else None
    if sheet is None or cell is None:
        return "unknown", text(variable.fact)
    source = sheet.sources[cell.source]
    return text(amount(cell.value, cell.unit)), f'<a href="{text(source.url)}">{text(source.title)}</a>'


def _figure_value(figure: MeasuredFigure, site: SiteData) -> str:
    """Return a measured figure with its range."""
    try:
        found, unit = measured(figure, site.tree, site.board.standings)
    except LookupError:
        return "not measured yet"
    shown = found.to(unit)
    return text(f"{amount(shown.value, unit)}{_range(shown, unit, ', ')}")


def _named(figure: MeasuredFigure, site: SiteData, page: PageContext) -> str:
    """Return a link to a measured figure's claim, with its arm."""
    claim = site.tree.claims.get(figure.claim)
    if not isinstance(claim, MeasuredClaim):
        return text(figure.claim)
    arm = {"subject": claim.subject, "baseline": claim.baseline}.get(
        figure.figure, f"{figure.figure} of {claim.subject}"
    )
    return f"[{text(claim.metric.kind.title)}, {text(arm)}]({page.href(claim_page(claim.id))})"


def _check(claim: ModelledClaim, check: Check, site: SiteData, page: PageContext) -> list[str]:
    unit, validation = claim.predicts.unit, check.validation
    predicted = amount(check.predicted.value, unit) if check.predicted else "unknown"
    measured = amount(check.measured.value, unit) if check.measured else f"not known: {check.missing}"
    error = "–" if check.error is None else signed(check.error) + ("" if check.holds else ", too far")
    cells = [
        _place(claim, validation, site),
        _at(validation),
        predicted,
        measured,
        error,
        percent(validation.tolerance),
    ]
    return [_named(validation, site, page), *map(text, cells)]


def _classes(claim: ModelledClaim, site: SiteData) -> list[str]:
    """Return the hardware of the measurements that the formula is compared with."""
    return list(dict.fromkeys(site.class_name(each.hardware) for each in claim.validated_by))


def _place(claim: ModelledClaim, validation: Validation, site: SiteData) -> str:
    """Return a measurement's point, and its hardware if not all are on the same class."""
    measured = site.tree.claims.get(validation.claim)
    point = ", ".join(f"{axis} {value}" for axis, value in validation.point.items())
    if isinstance(measured, MeasuredClaim) and measured.scope.sweep and point:
        point = phrasing.where(measured, validation.point)
    one = len(_classes(claim, site)) == 1
    return ", ".join(filter(None, ("" if one else site.class_name(validation.hardware), point))) or "–"


def _at(validation: Validation) -> str:
    """Return the variables that differ at this point from the claim's values."""
    plain = {name: value for name, value in validation.at.items() if isinstance(value, int | float)}
    named = [f"{name} of {value.claim}" for name, value in validation.at.items() if isinstance(value, MeasuredFigure)]
    return ", ".join([*(f"{name} {value:,.12g}" for name, value in plain.items()), *named]) or "as above"


def exported(claim: ModelledClaim, computed: Computed) -> Mapping[str, Any]:
    """Return a modelled claim as data for claims.json."""
    return {
        "status": computed.status,
        "formula": claim.formula,
        "valid_when": claim.validity.words,
        "predicts": {"name": claim.predicts.name, "unit": claim.predicts.unit, **_exported(computed.result)},
        "validated_by": [
            {
                "claim": check.validation.claim,
                "hardware": check.validation.hardware,
                "point": dict(check.validation.point),
                "predicted": check.predicted.value if check.predicted else None,
                "measured": check.measured.value if check.measured else None,
                "error": check.error if check.error is None or math.isfinite(check.error) else None,
                "tolerance": check.validation.tolerance,
            }
            for check in computed.checks
        ],
    }


def _exported(found: Quantity | None) -> Mapping[str, float | None]:
    ends = {name: getattr(found, name, None) for name in ("value", "low", "high")}
    return {name: end if end is not None and math.isfinite(end) else None for name, end in ends.items()}
