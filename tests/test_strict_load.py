"""Load untrusted YAML and JSON strictly."""

import math
from typing import Any

import pytest

from headroom.io.safe_read import UnreadableError
from headroom.io.strict_load import MAX_DEPTH, MAX_VALUES, load_json, load_yaml

DOCUMENT = """a: 1
b:
  c: [x, y]
  d:
    - e: 2
      f: >-
        long
        text
    - g
"""


class TestScalars:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1", 1),
            ("-12", -12),
            ("+5", 5),
            ("0", 0),
            ("1.5", 1.5),
            ("1.0", 1.0),
            ("-0.25", -0.25),
            ("1e3", 1000.0),
            ("1.5E-3", 0.0015),
            ("8.6e+12", 8.6e12),
            ("true", True),
            ("false", False),
            ("null", None),
            ("~", None),
            ("", None),
        ],
    )
    @pytest.mark.parametrize("form", ["a: {}", "a: {{b: {}}}", "a: [0, {}]"])
    def test_null_booleans_and_numbers_have_their_types(self, text: str, value: object, form: str) -> None:
        if form == "a: [0, {}]" and text == "":
            form = "a:\n- 0\n-{}"
        found = load_yaml(form.format(text)).value["a"]
        found = found["b"] if isinstance(found, dict) else found[1] if isinstance(found, list) else found
        assert (found, type(found)) == (value, type(value))

    @pytest.mark.parametrize(
        "text",
        ["yes", "no", "on", "off", "y", "2026-11-21", "12:30:45", "0x10", "0o17", "012", "1_000", "1.2.3", "v1", "<<"],
    )
    @pytest.mark.parametrize("form", ["a: {}", "{{a: {}}}"])
    def test_other_plain_scalars_are_strings(self, text: str, form: str) -> None:
        """`no`, dates and sexagesimal numbers are strings."""
        assert load_yaml(form.format(text)).value == {"a": text}

    @pytest.mark.parametrize("text", ["1", "1.5", "true", "null", ""])
    @pytest.mark.parametrize("quote", ['"', "'"])
    def test_quoted_scalars_are_strings(self, text: str, quote: str) -> None:
        assert load_yaml(f"a: {quote}{text}{quote}").value == {"a": text}
        assert load_yaml(f"{{a: {quote}{text}{quote}}}").value == {"a": text}

    @pytest.mark.parametrize("text", [".nan", ".NaN", "nan", ".inf", "-.inf", "+.INF", "inf", "Infinity"])
    def test_spellings_of_infinity_and_nan_are_strings(self, text: str) -> None:
        assert load_yaml(f"a: {text}").value == {"a": text}

    @pytest.mark.parametrize("text", ["1e999", "-1e999", "1.0E+400", "9" * 5000])
    @pytest.mark.parametrize("form", ["b: 1\na: {}", "b: 1\n{}: a"])
    def test_a_number_out_of_range_is_refused_with_its_line(self, text: str, form: str) -> None:
        with pytest.raises(UnreadableError) as caught:
            load_yaml(form.format(f"{text:.100}"))
        assert caught.value.line == 2
        assert caught.value.remedy


class TestYaml:
    def test_the_maximum_number_of_values_is_read_and_one_more_is_refused(self) -> None:
        values = f"[{'1,' * MAX_VALUES}]"
        assert len(load_yaml(values).value) == MAX_VALUES
        with pytest.raises(UnreadableError, match="more than"):
            load_yaml(values.replace("]", "1]"))

    def test_nested_values_are_read(self) -> None:
        assert load_yaml(DOCUMENT).value == {"a": 1, "b": {"c": ["x", "y"], "d": [{"e": 2, "f": "long text"}, "g"]}}

    @pytest.mark.parametrize(
        ("location", "line"),
        [
            (("a",), 1),
            (("b",), 2),
            (("b", "c", 1), 3),
            (("b", "d"), 4),
            (("b", "d", 0, "e"), 5),
            (("b", "d", 0, "f"), 6),
            (("b", "d", 1), 9),
            (("b", "d", 0, "absent"), 5),
            (("b", "absent", "x"), 2),
        ],
    )
    def test_a_value_has_the_line_of_its_key_or_of_its_container(
        self, location: tuple[str | int, ...], line: int
    ) -> None:
        assert load_yaml(DOCUMENT).line(location) == line

    def test_an_unknown_location_has_no_line(self) -> None:
        assert load_yaml(DOCUMENT).line(("absent",)) is None

    @pytest.mark.parametrize(
        ("text", "message", "line"),
        [
            ("a: 1\nb: 2\na: 3", "`a` occurs twice", 3),
            ("{a: 1, a: 2}", "`a` occurs twice", 1),
            ("x:\n  a: 1\n  'a': 2", "`a` occurs twice", 3),
            ("a: &x 1", "anchor or alias", 1),
            ("a: 1\nb: *x", "anchor or alias", 2),
            ("a: &x [1]\nb: *x", "anchor or alias", 1),
            ("a: !!python/object/apply:os.system ['x']", "tag", 1),
            ("a: !!str 1", "tag", 1),
            ("a: 1\nb: !x {c: 1}", "tag", 2),
            ("a: 1\n---\nb: 2", "more than one document", 1),
            ("", "empty", 1),
            ("# only a comment", "empty", 1),
            ("[a]: 1", "not a string", 1),
            ("{a: 1}: 1", "not a string", 1),
            ("a: [1, }", ".", 1),
            ("a: 1\n b: 2", ".", 2),
            ("a: 'x\x01'", ".", None),
        ],
    )
    def test_other_yaml_is_refused_with_its_line_and_a_remedy(self, text: str, message: str, line: int | None) -> None:
        with pytest.raises(UnreadableError, match=message) as caught:
            load_yaml(text)
        assert caught.value.line == line
        assert caught.value.message
        assert caught.value.remedy

    def test_a_key_that_looks_like_a_number_or_a_boolean_is_a_string(self) -> None:
        assert load_yaml("{1: a, true: b, ~: c, 1.5: d}").value == {"1": "a", "true": "b", "~": "c", "1.5": "d"}

    def test_the_maximum_depth_is_read_and_one_more_is_refused(self) -> None:
        assert load_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH).value is not None
        with pytest.raises(UnreadableError, match="nested deeper"):
            load_yaml("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))

    def test_very_deep_nesting_is_refused_without_exhausting_the_stack(self) -> None:
        for text in ("[" * 100_000, "{a: " * 100_000, "\n".join(" " * i + "a:" for i in range(500))):
            with pytest.raises(UnreadableError, match="nested deeper"):
                load_yaml(text)


class TestJson:
    def test_json_values_have_their_types(self) -> None:
        value = load_json('{"a": [1, 2.5, "x", null, true]}').value
        assert value == {"a": [1, 2.5, "x", None, True]}
        assert [type(each) for each in value["a"]] == [int, float, str, type(None), bool]

    @pytest.mark.parametrize(
        ("text", "message", "line"),
        [
            ('{"a": 1, "b": 2, "a": 1}', "`a` occurs twice", None),
            ('[{"x": {"a": 1, "a": 2}}]', "`a` occurs twice", None),
            ("[NaN]", "`NaN` is not a finite number", None),
            ("[Infinity]", "`Infinity` is not a finite number", None),
            ("[-Infinity]", "`-Infinity` is not a finite number", None),
            ("[1e999]", "`1e999` is not a finite number", None),
            ("[-1.0e400]", "is not a finite number", None),
            ("[" + "9" * 5000 + "]", "beyond 64 bits", None),
            ("[1,\n]", "not valid JSON", 2),
            ("{'a': 1}", "not valid JSON", 1),
            ("", "not valid JSON", 1),
            ("[1] [2]", "not valid JSON", 1),
            ('["\t"]', "not valid JSON", 1),
            ("[" * 200_000, "nested too deeply", None),
            ('{"a":' * 200_000, "nested too deeply", None),
        ],
    )
    def test_other_json_is_refused_with_a_remedy(self, text: str, message: str, line: int | None) -> None:
        with pytest.raises(UnreadableError, match=message) as caught:
            load_json(text)
        assert caught.value.line == line
        assert caught.value.remedy

    @pytest.mark.parametrize("text", ["1e308", "5e-324", "0.1"])
    def test_extreme_finite_numbers_are_read(self, text: str) -> None:
        value: Any = load_json(text).value
        assert math.isfinite(value)
        assert value == float(text)
