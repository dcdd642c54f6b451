"""What must hold in a tree, rule by rule. ``headroom check`` runs these and nothing else.

A rule is a function from what is written and judged to the problems that it finds; its name is the one that ``--only``
takes and that its cases under tests/rule_cases/ carry.
"""

from collections.abc import Callable, Iterator

from headroom.records import Problem
from headroom.rules.addresses import addresses
from headroom.rules.calc import calc
from headroom.rules.code_blocks import fences, runs, shown
from headroom.rules.comparisons import comparisons, tally
from headroom.rules.configuration import configuration
from headroom.rules.consequences import follows
from headroom.rules.context import Context
from headroom.rules.dates import dates
from headroom.rules.figures import Skipped, apply, figures
from headroom.rules.flips import flips
from headroom.rules.formulas import models
from headroom.rules.glossary import glossary
from headroom.rules.html import html
from headroom.rules.links import hardware, links, verdicts
from headroom.rules.orphans import orphans
from headroom.rules.references import references
from headroom.rules.retired import retired
from headroom.rules.table_rows import rows
from headroom.rules.typed_figures import typed
from headroom.rules.wording import words

__all__ = ["READING", "RULES", "Context", "Skipped", "apply", "check", "tally"]

RULES: dict[str, Callable[[Context], Iterator[Problem]]] = {
    "references": references,
    "links": links,
    "verdicts": verdicts,
    "retired": retired,
    "figures": figures,
    "calc": calc,
    "rows": rows,
    "typed": typed,
    "models": models,
    "hardware": hardware,
    "words": words,
    "flips": flips,
    "fences": fences,
    "shown": shown,
    "runs": runs,
    "orphans": orphans,
    "comparisons": comparisons,
    "addresses": addresses,
    "glossary": glossary,
    "html": html,
    "configuration": configuration,
    "dates": dates,
}
# The rules that reading itself applies: a record that breaks one is no record, but for a gap in it.
READING = ("claims", "evidence", "machines", "methods", "glossary", "facts", "snippets", "benchmarks", "pages", "gaps")

# Nearly everything leans on these two. Where one cannot be read, nothing else is said before it is mended.
_FOUNDATIONS = ("checks/facts/hardware-classes.yml", "checks/facts/stand-ins.yml")


def check(context: Context, only: str | None = None) -> list[Problem]:
    """Every problem of a tree, or those of one rule: first files that cannot be read, then the rest, each by its place.

    Problems that only follow from a file that cannot be read are left out.
    """
    found = set(context.problems)
    shaken = {problem for problem in found if problem.path in _FOUNDATIONS}
    consequence = follows(context)
    for name, rule in RULES.items():
        if only in (None, name) and not shaken:
            found.update(problem for problem in rule(context) if not consequence(problem))
    return sorted((problem for problem in found if only in (None, problem.rule) or problem in shaken), key=_place)


def _place(problem: Problem) -> tuple[bool, str, int, str]:
    return (problem.rule not in READING[:-1], problem.path, problem.line or 0, str(problem))
