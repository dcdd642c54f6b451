"""Format calculated figures: the number that a link must show, and its formula with numbers."""

import re
from dataclasses import dataclass

from headroom.io.safe_read import UnreadableError
from headroom.maths.quantities import Powers, Quantity, Unit, named
from headroom.maths.units import Figure, human_readable
from headroom.pages.calculations import Calculation, Let, binding, given_number

_OPEN = re.compile(r"\?(?:\.(?P<decimals>\?+))?")
"""The placeholder for a figure that `--fix` fills in: ``?``, or ``?.??`` for two decimals."""
_UNIT = re.compile(r"[ \u00a0\u202f]?(?P<unit>[A-Za-zµ]+(?:/[A-Za-z]+)*)(?![\w/])")
_TOKEN = re.compile(
    r"\*\*\s*(?P<power>-?\d+)|(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z]\w*)|\s*(?P<mark>[*/+,-])\s*|\s+"
)
_MARKS = {"*": " × ", "/": " / ", "+": " + ", "-": " \u2212 ", ",": ", "}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WRITTEN_OUT = 1e12  # below this, a number such as 1e9 is written with all digits
_SEPARATED_FROM = 1000  # from here on, a number with a unit has a separator and no decimals
_GROUPED_FROM = 100  # from here on, a plain number has no decimals; below, it has two


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The replacement of ``printed`` in a link's text, which begins at ``start``."""

    start: int
    printed: str
    right: str
    unit: str
    """The unit after it, with the space before the unit."""

    @property
    def differs(self) -> bool:
        """Whether the text must change."""
        return self.printed != self.right


def rewrite(calculation: Calculation) -> Rewrite:
    """Return the correct number of a calculated figure, in the unit and to the precision of its text.

    A link without text has the usual unit and precision.

    Raises:
        UnreadableError: the text holds no figure, more than one, or one with a wrong unit.
    """
    text, quantity = calculation.link.text or "?", calculation.quantity
    opened = None if Figure.find(text) else _OPEN.search(text)
    form = _filled(text, opened, quantity) if opened else text
    figure = Figure.find(form)
    if figure is None:
        message = f"`{text}` holds no figure, or more than one"
        raise UnreadableError(message, "write one figure per link, or `? GiB` for --fix to fill in")
    number = figure.text.removesuffix(figure.unit or "").rstrip()
    behind = _UNIT.match(form, figure.start + len(number))
    unit = _unit(figure.unit or (behind["unit"] if behind else "1"))
    _agree(calculation, unit, text)
    right = figure.number(quantity.value / unit.scale)
    shown = form[figure.start + len(number) : behind.end()] if behind else figure.text[len(number) :]
    if opened:
        rest = form[figure.start + len(number) :]
        return Rewrite(opened.start(), text[opened.start() :], right + rest, "")
    return Rewrite(figure.start, number, right, shown if unit.scale != 1 or unit.powers else "")


def _filled(text: str, opened: re.Match[str], quantity: Quantity) -> str:
    """Return the text of an open figure with a number of the usual form in place of the question mark."""
    behind = text[opened.end() :]
    if not behind.strip() and quantity.powers:
        behind = _usual_unit(quantity)
    if opened["decimals"]:
        number = "1." + "0" * len(opened["decimals"])
    elif "×" in behind:
        number = "1.00"
    elif "%" in behind or (not quantity.powers and not _UNIT.match(behind) and _is_whole(quantity.value)):
        number = "1"
    elif unit := _UNIT.match(behind):
        number = "1,000" if abs(quantity.value) >= _SEPARATED_FROM * _unit(unit["unit"]).scale else "1.0"
    else:
        number = "1.00"
    return text[: opened.start()] + number + behind


def _is_whole(value: float) -> bool:
    return float(value).is_integer() or abs(value) >= _GROUPED_FROM


def _usual_unit(quantity: Quantity) -> str:
    """Return the unit in which a size or a time is usually printed, with a space before it."""
    if quantity.powers == (("B", 1),):
        return " GiB" if abs(quantity.value) >= Unit.parse("GiB").scale else " MiB"
    return " ms" if quantity.powers == (("s", 1),) and abs(quantity.value) < 1 else f" {named(quantity.powers)}"


def _unit(text: str) -> Unit:
    """Return a text's unit. A word that is not a unit only says what is counted."""
    try:
        return Unit.parse(text)
    except ValueError:
        return Unit.parse("1")


def _agree(calculation: Calculation, unit: Unit, text: str) -> None:
    """Check that a text has the unit of its formula; a result without a unit fits any.

    Raises:
        UnreadableError: the units differ.
    """
    found, printed = calculation.quantity.powers, binding(unit.powers)
    if found and found != printed:
        message = f"`{calculation.formula}` has the unit `{named(found)}`, but `{text}` has `{named(printed)}`"
        raise UnreadableError(message, "correct the unit of the text, the formula, or the units of its lets")


def explained(calculation: Calculation) -> str:
    """Return the formula with its numbers and its result: ``20 × 1,235,814,400 = 23.0 GiB``."""
    found = rewrite(calculation)
    shown = _TOKEN.sub(lambda token: _token(token, calculation), calculation.shown)
    return f"{' '.join(shown.split())} = {found.right}{found.unit}"


def _token(token: re.Match[str], calculation: Calculation) -> str:
    if token["power"]:
        return token["power"].translate(_RAISED)
    if token["number"]:
        return _number(token["number"])
    if token["name"] in calculation.names:
        return _named_value(*calculation.names[token["name"]])
    return token["name"] or _MARKS.get(token["mark"], "")


def _number(text: str) -> str:
    text = text.replace("_", "")
    whole = float(text).is_integer() and (text.isdigit() or "e" in text)
    return f"{float(text):,.0f}" if whole and float(text) < _WRITTEN_OUT else text


def _named_value(let: Let, quantity: Quantity) -> str:
    """Return the value of a name: as written in its let if that is a number, otherwise rounded."""
    if given := given_number(let.text):
        number, unit = given
        return _number(number) + (f" {unit}" if quantity.powers or unit in ("%", "×") else "")
    shown = _rounded(quantity.value, quantity.powers)
    return f"({shown})".replace("-", "\u2212") if quantity.value < 0 else shown


def _rounded(value: float, powers: Powers) -> str:
    if powers in ((("B", 1),), (("s", 1),)):
        return human_readable(value, powers[0][0])
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
    return f"{number} {named(powers)}" if powers else number
