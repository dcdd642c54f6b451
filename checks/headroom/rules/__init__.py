"""The rules of ``headroom check``, and the function that runs them.

A rule is a function that takes a context and yields problems. Its name is the argument of ``--only`` and the file name
of its cases under tests/rule_cases/.
"""

from collections.abc import Callable, Iterator

from headroom.records import Problem
from headroom.rules.accelerators import accelerators
from headroom.rules.addresses import addresses
from headroom.rules.calc import calc
from headroom.rules.code_blocks import fences, runs, shown
from headroom.rules.comparisons import comparisons, tally
from headroom.rules.configuration import configuration
from headroom.rules.consequences import consequence_test
from headroom.rules.context import Context
from headroom.rules.dates import dates
from headroom.rules.figures import Skipped, apply, figures
from headroom.rules.flips import flips
from headroom.rules.formulas import models
from headroom.rules.glossary import glossary
from headroom.rules.html import html
from headroom.rules.links import hardware, links, verdicts
from headroom.rules.memory_errors import memory_errors
from headroom.rules.orphans import orphans
from headroom.rules.pictures import pictures
from headroom.rules.published import published
from headroom.rules.references import references
from headroom.rules.retired import retired
from headroom.rules.table_rows import rows
from headroom.rules.training_runs import training
from headroom.rules.typed_figures import typed
from headroom.rules.wording import words

__all__ = ["READING", "RULES", "Context", "Skipped", "apply", "check", "tally"]

RULES: dict[str, Callable[[Context], Iterator[Problem]]] = {
    "references": references,
    "published": published,
    "memory": memory_errors,
    "training": training,
    "accelerators": accelerators,
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
    "pictures": pictures,
    "comparisons": comparisons,
    "addresses": addresses,
    "glossary": glossary,
    "html": html,
    "configuration": configuration,
    "dates": dates,
}
# The rules that loading applies: a record that violates one is not loaded, except for a gap in it.
READING = ("claims", "evidence", "machines", "methods", "glossary", "facts", "snippets", "benchmarks", "pages", "gaps")

# Nearly all rules depend on these two files. While one cannot be read, only its own problems are reported.
_FOUNDATIONS = ("checks/facts/hardware-classes.yml", "checks/facts/stand-ins.yml")


def check(context: Context, only: str | None = None) -> list[Problem]:
    """Return all problems of a tree, or those of one rule: unreadable files first, then by path and line.

    Problems that are only consequences of an unreadable file are left out.
    """
    found = set(context.problems)
    fundamental = {problem for problem in found if problem.path in _FOUNDATIONS}
    is_consequence = consequence_test(context)
    for name, rule in RULES.items():
        if only in (None, name) and not fundamental:
            found.update(problem for problem in rule(context) if not is_consequence(problem))
    return sorted((problem for problem in found if only in (None, problem.rule) or problem in fundamental), key=_place)


def _place(problem: Problem) -> tuple[bool, str, int, str]:
    return (problem.rule not in READING[:-1], problem.path, problem.line or 0, str(problem))
