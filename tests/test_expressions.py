"""Formulas: parsing, values with units and ranges, and refusals."""

import pytest

from headroom.maths import expressions
from headroom.maths.expressions import parse
from headroom.maths.quantities import Quantity, Unit, named

A, B = Quantity.of(6.0, "GiB"), Quantity.of(2.0, "GiB")


def value(text: str, **values: Quantity) -> float:
    """Return a formula's value in base units."""
    return parse(text).evaluate(values).value


class TestArithmetic:
    @pytest.mark.parametrize(
        ("text", "result"),
        [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("7 - 2 - 1", 4.0),
            ("8 / 4 / 2", 1.0),
            ("-2 ** 2", -4.0),
            ("(-2) ** 2", 4.0),
            ("2 ** -2", 0.25),
            ("2 ** 0", 1.0),
            ("min(3, 1, 2)", 1.0),
            ("max(3, 1, 2)", 3.0),
            ("ceil(1.2)", 2.0),
            ("floor(-1.2)", -2.0),
            ("1_000 * 1e3", 1e6),
        ],
    )
    def test_values_and_precedence_are_those_of_arithmetic(self, text: str, result: float) -> None:
        assert value(text) == result

    def test_names_do_not_include_functions(self) -> None:
        assert parse("max(a, b_2) * a").names == {"a", "b_2"}

    @pytest.mark.parametrize(
        "text",
        [
            "", "a b", "a.b", "a[0]", "a < b", "a and b", "not a", "a if b else c", "lambda: a", "'a'", "(a, b)",
            "[a]", "{a}", "a := 1", "*a", "a @ b", "a // b", "a % b", "a | b", "~a", "+a", "True", "None", "...", "1j",
            "1e999", "9" * 390, "__import__('os')", "open(a)", "min", "min()", "min(a=1)", "min(*a)", "ceil(a, b)",
            "max(a)(b)", "a.max(b)", "A", "_a", "2 ** a", "2 ** 5", "2 ** 1.0", "2 ** 10 ** 10", "2 ** True", "a\nb",
            "(" * 201 + "a" + ")" * 201, "-" * 40 + "a", "+".join("a" * 110), "a + " * 100 + "a", "é", "a;b", "#", "\0",
        ],
    )  # fmt: skip
    def test_anything_but_arithmetic_is_refused_with_a_remedy(self, text: str) -> None:
        with pytest.raises(ValueError, match=r".+; .+"):
            parse(text)

    def test_formulas_at_the_limits_are_accepted(self) -> None:
        assert value("1".ljust(expressions.MAX_LENGTH)) == 1
        assert value("-" * (expressions.MAX_DEPTH - 2) + "1") == 1
        assert value(f"2 ** {expressions.MAX_POWER}") == 16


class TestUnits:
    @pytest.mark.parametrize(
        ("text", "unit", "result"),
        [
            ("a + b", "GiB", 8.0),
            ("a - b", "GiB", 4.0),
            ("a / b", "1", 3.0),
            ("max(a, b)", "MiB", 6144.0),
            ("-a", "GiB", -6.0),
            ("ceil(a / b / 2)", "1", 2.0),
            ("a * b / b", "GiB", 6.0),
            ("a ** 2 / b", "GiB", 18.0),
        ],
    )
    def test_the_unit_is_computed_with_the_value(self, text: str, unit: str, result: float) -> None:
        assert parse(text).evaluate({"a": A, "b": B}).to(unit).value == pytest.approx(result, rel=1e-12)

    @pytest.mark.parametrize(
        ("text", "first", "second"),
        [
            ("a + t", "B", "s"),
            ("t - a", "s", "B"),
            ("max(a, t)", "B", "s"),
            ("a + 1", "B", "1"),
            ("a * t + a", "B*s", "B"),
        ],
    )
    def test_units_of_different_kinds_are_not_added_or_compared(self, text: str, first: str, second: str) -> None:
        with pytest.raises(ValueError, match=rf"^`{first}` and `{second}` cannot be".replace("*", r"\*")):
            value(text, a=A, t=Quantity.of(1.0, "ms"))

    def test_a_result_is_not_converted_to_a_unit_of_another_kind(self) -> None:
        with pytest.raises(ValueError, match="`B`, which cannot be converted to `s`"):
            A.to("s")

    def test_a_quantity_with_a_unit_is_not_rounded(self) -> None:
        """1.5 GiB is an integer number of bytes, but not of GiB."""
        with pytest.raises(ValueError, match="only a number without a unit can be rounded, not `B`"):
            value("ceil(a)", a=A)

    @pytest.mark.parametrize(
        ("text", "base"),
        [
            ("1", "1"), ("%", "1"), ("tokens/s", "token/s"), ("B/layer/token", "B/layer/token"), ("TFLOP/s", "FLOP/s"),
            ("s*FLOP/s", "FLOP"), ("GiB/parameter", "B/parameter"), ("1/s/s", "1/s/s"), ("B*B", "B*B"),
        ],
    )  # fmt: skip
    def test_units_are_parsed_from_products_and_quotients(self, text: str, base: str) -> None:
        assert named(Unit.parse(text).powers) == base

    @pytest.mark.parametrize("text", ["", "stone", "B/", "/s", "B^2", "b", "gib", "B//s", "*".join("B" * 9)])
    def test_an_unknown_unit_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"unknown unit|more than 8 factors"):
            Unit.parse(text)

    def test_overflow_and_division_by_zero_are_errors(self) -> None:
        with pytest.raises(ValueError, match="too large"):
            Quantity.of(1e308, "TiB")
        for text in ("a * a * a * a", "1 / (a - a)", "a ** 4", "1 / a ** -4"):
            with pytest.raises(ValueError, match=r"too large|division by zero"):
                value(text, a=Quantity.of(1e200))


class TestRanges:
    @pytest.mark.parametrize(
        ("text", "low", "high"),
        [
            ("x + y", 5.0, 8.0),
            ("x - y", -4.0, -1.0),
            ("x * y", 4.0, 15.0),
            ("y / x", 4 / 3, 5.0),
            ("-x", -3.0, -1.0),
            ("x ** 2", 1.0, 9.0),
            ("(x - 2) ** 2", 0.0, 1.0),
            ("x ** -1", 1 / 3, 1.0),
            ("min(x, 2)", 1.0, 2.0),
            ("max(x, 2)", 2.0, 3.0),
            ("floor(x / 2)", 0.0, 1.0),
            ("1 / (x - 2.5)", -float("inf"), float("inf")),
        ],
    )
    def test_a_range_contains_every_possible_value(self, text: str, low: float, high: float) -> None:
        """The range is unbounded where a divisor may be zero."""
        values = {"x": Quantity.of(2.0, low=1.0, high=3.0), "y": Quantity.of(4.5, low=4.0, high=5.0)}
        found = parse(text).evaluate(values)
        assert (found.low, found.high) == pytest.approx((low, high))
        assert found.low <= found.value <= found.high

    def test_break_even_of_compilation_has_a_range(self) -> None:
        """The extra seconds of the first step, divided by the seconds saved in each later one."""
        found = parse("(first - first_eager) / (eager - compiled)").evaluate(
            {
                "first": Quantity.of(31, "s", 30, 32),
                "first_eager": Quantity.of(1, "s"),
                "eager": Quantity.of(100, "ms", 99, 101),
                "compiled": Quantity.of(60, "ms", 59, 61),
            }
        )
        assert (found.low, found.value, found.high) == pytest.approx((29 / 0.042, 750.0, 31 / 0.038))
