"""The table of the README that compares editions: its last column is counted here.

`headroom check`, which `make test` runs, reports each comparison, block or figure that has neither a link nor a note.
"""

import re
from pathlib import Path

import pytest

from headroom import rules
from headroom.rules.code_blocks import PYTHON

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def context() -> rules.Context:
    return rules.Context.of(ROOT)


def cell(row: str) -> str:
    """Return the last cell of a row of the table."""
    (found,) = re.findall(rf"(?m)^\| {re.escape(row)} \|.*\| (.*) \|$", README)
    return str(found)


def test_python_that_does_not_run_is_counted(context: rules.Context) -> None:
    """Each other block shows a region of a snippet, or the rule `fences` reports it."""
    pages = [page for page in context.pages if page.for_readers]
    python = [fence for page in pages for fence in page.fences if fence.language in PYTHON]
    reasons = [fence.reason for fence in python if fence.reason]
    share = 100 * (len(python) - len(reasons)) // len(python)
    assert cell("Python blocks that run as printed").startswith(f"{share} %: ")


def test_two_thirds_of_the_comparisons_link_to_a_claim(context: rules.Context) -> None:
    assert "two thirds link to a claim" in cell("comparative claims with no evidence of any kind")
    tally = rules.tally(context)
    assert 0.6 < tally["linked"] / tally.total() < 0.73


def test_the_rule_for_figures_is_one_that_the_check_runs() -> None:
    assert cell("figures in the text tied to evidence").startswith("100 % of [")
    assert "typed" in rules.RULES


def test_install_command_has_the_repository_of_the_site() -> None:
    """The site's pages take the address from mkdocs.yml."""
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    (address,) = re.findall(r'!ENV \[HEADROOM_REPOSITORY, "(\S+)"\]', settings)
    assert f"$ pip install git+{address}\n" in README
