"""What a record keeps of what a script printed."""

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
def test_what_only_a_terminal_knows_is_left_out(stdout: str, expected: str) -> None:
    """Colours, lines written over, characters that are not seen, and blanks at the ends."""
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
def test_of_a_path_on_the_machine_the_last_name_stays(stdout: str, expected: str) -> None:
    """Whoever ran the script, and where, is nobody's business."""
    assert trimmed(stdout) == expected


@pytest.mark.parametrize(
    "text",
    ["3/4 of it, tokens / s", "https://a.org/b/c", "openai-community/gpt2", "out/model/x", "and/or", "[/] 1/2/3"],
)
def test_what_looks_like_a_path_and_is_none_stays(text: str) -> None:
    """Addresses, fractions, names of the hub, and paths that begin where the script ran."""
    assert trimmed(text) == text


def test_the_end_of_a_long_output_is_kept_in_whole_lines() -> None:
    """What was left out is marked; a line alone that is too long keeps its end."""
    rows = [f"line {number}" for number in range(LINES + 1)]
    assert trimmed("\n".join(rows[1:])) == "\n".join(rows[1:])
    assert trimmed("\n".join(rows)) == CUT + "\n".join(rows[2:])
    assert trimmed(40 * ("x" * 199 + "\n")) == CUT + "\n".join(["x" * 199] * 19)
    assert trimmed("x" * CHARACTERS) == "x" * CHARACTERS
    assert trimmed("y" + "x" * CHARACTERS) == CUT + "x" * (CHARACTERS - len(CUT))


@pytest.mark.parametrize(
    "text", ["", " ", "a\n", "a \nb", "at /home/me/x", "a\x1b[2J", "a\u202eb", "x\n" * LINES + "x", "x" * 4001, "\rx"]
)
def test_a_record_takes_nothing_else(text: str) -> None:
    """Whoever wrote it."""
    with pytest.raises(ValidationError):
        TypeAdapter(Printed).validate_python(text)


@pytest.mark.parametrize(
    "stdout", ["/a//b/~/c/…/d\r\n", "…\n" + "x\n" * 90, " \n" + "é" * 9000, "\x1b[\x1b[m0m/a/\u200b/b"]
)
def test_what_is_kept_is_what_a_record_takes(stdout: str) -> None:
    """Whatever was printed: keeping it again changes nothing."""
    assert TypeAdapter(Printed).validate_python(trimmed(stdout)) == trimmed(stdout)
