"""Trimming of captured output for run records."""

import pytest
from pydantic import TypeAdapter, ValidationError

from headroom.records.captured_output import CHARACTERS, LINES, Printed, trimmed

CUT = "…\n"


@pytest.mark.parametrize(
    ("stdout", "expected"),
    [
        ("a\n  b\n", "a\n  b"),
        ("\n \na  \n\nb\t\n \n", "a\n\nb"),
        (" \n\n", ""),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;https://a.b\x1b\\link\x1b]8;;\x07", "red link"),
        ("10 %\r 50 %\rdone\r\nnext", "done\nnext"),
        ("a\x07\u202eb\u200bc", "abc"),
    ],
)
def test_terminal_control_is_removed(stdout: str, expected: str) -> None:
    """Colours, overwritten lines, invisible characters and trailing blanks."""
    assert trimmed(stdout) == expected


@pytest.mark.parametrize(
    ("stdout", "expected"),
    [
        ("saved /tmp/headroom-x1/trace.json now", "saved …/trace.json now"),
        ("['/home/me/x.py', \"/srv/y/\"]", "['…/x.py', \"…/\"]"),
        ("a=//srv//b/c, file:///home/me/x", "a=…/c, …/x"),
        ("C:\\Users\\me\\x.py and ~/notes/y", "…/x.py and …/y"),
        ("/home/\u200bme/x", "…/x"),
    ],
)
def test_absolute_path_is_reduced_to_its_last_name(stdout: str, expected: str) -> None:
    """Run records name no user and no folder of the machine."""
    assert trimmed(stdout) == expected


@pytest.mark.parametrize(
    "text",
    ["3/4 of it, tokens / s", "https://a.org/b/c", "openai-community/gpt2", "out/model/x", "and/or", "[/] 1/2/3"],
)
def test_other_text_with_slashes_is_kept(text: str) -> None:
    """URLs, fractions, names on the Hub and relative paths."""
    assert trimmed(text) == text


def test_the_end_of_a_long_output_is_kept_in_whole_lines() -> None:
    """The omission is marked; a single line that is too long keeps its end."""
    rows = [f"line {number}" for number in range(LINES + 1)]
    assert trimmed("\n".join(rows[1:])) == "\n".join(rows[1:])
    assert trimmed("\n".join(rows)) == CUT + "\n".join(rows[2:])
    assert trimmed(40 * ("x" * 199 + "\n")) == CUT + "\n".join(["x" * 199] * 19)
    assert trimmed("x" * CHARACTERS) == "x" * CHARACTERS
    assert trimmed("y" + "x" * CHARACTERS) == CUT + "x" * (CHARACTERS - len(CUT))


@pytest.mark.parametrize(
    "text", ["", " ", "a\n", "a \nb", "at /home/me/x", "a\x1b[2J", "a\u202eb", "x\n" * LINES + "x", "x" * 4001, "\rx"]
)
def test_record_refuses_untrimmed_output(text: str) -> None:
    """Also if a record is edited by hand."""
    with pytest.raises(ValidationError):
        TypeAdapter(Printed).validate_python(text)


@pytest.mark.parametrize(
    "stdout", ["/a//b/~/c/…/d\r\n", "…\n" + "x\n" * 90, " \n" + "é" * 9000, "\x1b[\x1b[m0m/a/\u200b/b"]
)
def test_record_accepts_trimmed_output(stdout: str) -> None:
    """Trimming twice changes nothing."""
    assert TypeAdapter(Printed).validate_python(trimmed(stdout)) == trimmed(stdout)
