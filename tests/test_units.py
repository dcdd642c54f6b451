"""Convert units, and find and format figures in a text."""

import pytest

from headroom.maths.units import Figure, convert, human_readable


class TestConvert:
    @pytest.mark.parametrize(
        ("value", "unit", "to", "result"),
        [
            (1.5, "s", "ms", 1500.0),
            (250.0, "µs", "ms", 0.25),
            (1.0, "GiB", "B", 1073741824.0),
            (1e9, "B", "GB", 1.0),
            (1.0, "GB", "GiB", 0.931322574615),
            (1.0, "MiB", "KiB", 1024.0),
            (1.0, "MB", "kB", 1000.0),
            (0.29, "1", "%", 29.0),
            (1.9, "×", "1", 1.9),
            (12.0, "tokens/s", "tokens/s", 12.0),
        ],
    )
    def test_a_value_is_converted_there_and_back(self, value: float, unit: str, to: str, result: float) -> None:
        assert convert(value, unit, to) == pytest.approx(result, rel=1e-11)
        assert convert(result, to, unit) == pytest.approx(value, rel=1e-11)

    @pytest.mark.parametrize(("unit", "to"), [("s", "B"), ("tokens/s", "1"), ("%", "ms")])
    def test_units_of_different_kinds_are_not_converted(self, unit: str, to: str) -> None:
        with pytest.raises(ValueError, match=f"`{unit}` cannot be converted to `{to}`"):
            convert(1, unit, to)

    @pytest.mark.parametrize(("unit", "to"), [("hours", "s"), ("s", "hours")])
    def test_an_unknown_unit_is_named_with_the_known_ones(self, unit: str, to: str) -> None:
        with pytest.raises(ValueError, match="unknown unit `hours`; use one of s, ms"):
            convert(1, unit, to)


class TestFigure:
    @pytest.mark.parametrize(
        ("text", "found", "value", "unit", "written"),
        [
            ("1.9×", "1.9×", 1.84, "×", "1.8×"),
            ("up to 1.9× faster", "1.9×", 1.95001, "×", "2.0×"),
            ("+12 %", "+12 %", 0.1349, "1", "+13 %"),
            ("+12 %", "+12 %", -0.1349, "1", "−13 %"),
            ("−8.5%", "−8.5%", -0.08444, "1", "−8.4%"),
            ("−8.5%", "−8.5%", 0.08444, "1", "8.4%"),
            ("-8.5%", "-8.5%", -0.08444, "1", "−8.4%"),
            ("12 %", "12 %", 0.1349, "1", "13 %"),
            ("12,345 tokens/s", "12,345 tokens/s", 1234567.8, "tokens/s", "1,234,568 tokens/s"),
            ("12345 tokens/s", "12345 tokens/s", 1234567.8, "tokens/s", "1234568 tokens/s"),
            ("999 tokens/s", "999 tokens/s", 1234.0, "tokens/s", "1,234 tokens/s"),
            ("1.25 GiB", "1.25 GiB", 1.5 * 2**30, "B", "1.50 GiB"),
            ("0.35 s", "0.35 s", 0.3456, "s", "0.35 s"),
            ("350 ms", "350 ms", 0.3456, "s", "346 ms"),
            ("350ms", "350ms", 0.3456, "s", "346ms"),
            ("350\u00a0ms", "350\u00a0ms", 0.3456, "s", "346\u00a0ms"),
            ("65,504", "65,504", 65504, "1", "65,504"),
            ("65,504, or so", "65,504", 65505, "1", "65,505"),
            ("is 1.9.", "1.9", 2.04, "1", "2.0"),
            ("+0.1 %", "+0.1 %", -0.0001, "1", "0.0 %"),
            ("+0.1 %", "+0.1 %", 0.0, "1", "0.0 %"),
        ],
    )
    def test_a_value_is_formatted_like_the_figure(
        self, text: str, found: str, value: float, unit: str, written: str
    ) -> None:
        figure = Figure.find(text)
        assert figure is not None
        assert (figure.text, text[figure.start :][: len(figure.text)]) == (found, found)
        assert figure.written(value, unit) == written

    def test_rewriting_a_rewritten_figure_changes_nothing(self) -> None:
        for text in ("1.9×", "+12 %", "−8.5%", "12,345 tokens/s", "1.25 GiB", "0.35 s", "350 ms"):
            figure = Figure.find(text)
            assert figure is not None
            again = Figure.find(figure.written(0.123456, figure.unit or "1"))
            assert again is not None
            assert again.written(0.123456, figure.unit or "1") == again.text

    @pytest.mark.parametrize("text", ["", "faster", "1.9× to 2.1×", "1 and 2", "2–3×", "1.9x", "H200", "GPT-2", "bf16"])
    def test_a_text_with_no_figure_or_several_gives_none(self, text: str) -> None:
        """Neither the end of a name nor the start of a misspelt one is a figure."""
        assert Figure.find(text) is None

    def test_a_value_of_another_kind_of_unit_is_refused(self) -> None:
        figure = Figure.find("1.9 s")
        assert figure is not None
        with pytest.raises(ValueError, match="`B` cannot be converted to `s`"):
            figure.written(1.0, "B")


class TestHumanReadable:
    @pytest.mark.parametrize(
        ("value", "unit", "text"),
        [
            (1.5, "s", "1.50 s"),
            (0.3456, "s", "346 ms"),
            (0.0123, "s", "12.3 ms"),
            (3.5e-5, "s", "35.0 µs"),
            (1.5 * 2**30, "B", "1.50 GiB"),
            (12.34 * 2**20, "B", "12.3 MiB"),
            (2048, "B", "2.00 KiB"),
            (512, "B", "512 B"),
            (-(2.0**20), "B", "-1.00 MiB"),
            (12345.6, "tokens/s", "12,346 tokens/s"),
            (1.234, "×", "1.23 ×"),
            (2, "1", "2.00"),
        ],
    )
    def test_a_value_has_three_significant_digits_in_a_fitting_unit(self, value: float, unit: str, text: str) -> None:
        assert human_readable(value, unit) == text

    def test_an_unknown_unit_is_refused(self) -> None:
        """As everywhere."""
        with pytest.raises(ValueError, match="unknown unit `hours`"):
            human_readable(1.0, "hours")
