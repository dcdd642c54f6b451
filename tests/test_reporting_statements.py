"""The search for statements that report a problem; test_rule_cases.py asks that each is reached."""

import ast

import pytest

from reporting_statements import SITES, missed, reports


def test_sites_are_found() -> None:
    """The search finds sites in every package that has any."""
    assert {name.partition("/")[0] for name in SITES if "/" in name} == {"io", "records", "pages", "rules"}
    assert len(SITES) > 100


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise ValueError('x')", True),
        ("raise OSError('x')", False),
        ("raise", False),
        ("yield Problem('x')", True),
        ("reader.report('x')", True),
        ("yield at(page)", True),
        ("return f'no {x}', 'correct it'", True),
        ("return 'a b', remedy", True),
        ("return a, b", False),
        ("return 1", False),
    ],
)
def test_reporting_statements_are_recognised(source: str, expected: bool) -> None:  # noqa: FBT001
    """Errors, problems, and pairs of message and remedy."""
    (node,) = ast.parse(source).body
    assert reports(node) == expected


def test_sites_that_do_not_run_are_missed() -> None:
    """Without a tree, every site is missed."""
    assert missed(set()) == list(SITES)
