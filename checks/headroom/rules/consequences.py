"""Recognise problems that are only consequences of a file that cannot be read, so that only the cause is reported."""

import re
from collections.abc import Callable, Collection

from headroom.pages.link_targets import ClaimTarget
from headroom.records import MeasuredClaim, ModelledClaim, Problem
from headroom.records.paths import claim_path
from headroom.rules.context import Context

_TOKEN = re.compile(r"`([^`\s]+)`")
_OF_USE = ("orphans", "shown", "addresses")
"""Rules about unused things. A file that cannot be read could use anything."""
_OF_EVIDENCE = ("verdicts", "figures", "rows", "models", "words", "flips", "calc")
_USERS = ("docs/", "checks/registry/", "checks/methods/", "checks/glossary/")
_CLAIM = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")


def consequence_test(context: Context) -> Callable[[Problem], bool]:
    """Return a function that tells whether a rule's problem is only a consequence of a file that cannot be read."""
    broken = {problem.path for problem in context.problems if problem.rule != "gaps"}
    used = any(path.startswith(_USERS) for path in broken)
    measured = (path for path in broken if path.startswith(("checks/evidence/", "checks/benchmarks/")))
    unmeasured = _places_of_claims(context, {path.split("/")[2].removesuffix(".py") for path in measured})
    unmeasured |= _places_of(context, {name for name, found in context.board.reported.items() if not found.results})

    def is_consequence(problem: Problem) -> bool:
        if problem.rule in _OF_USE and used and problem.path != "mkdocs.yml":
            return True
        places = {(problem.path, problem.line), (problem.path, None)}
        if problem.rule in _OF_EVIDENCE and not unmeasured.isdisjoint(places):
            return True
        return any(not broken.isdisjoint(_defining(token)) for token in _TOKEN.findall(problem.message))

    return is_consequence if broken or unmeasured else lambda _: False


def _defining(name: str) -> set[str]:
    """Return the files that could define a name in a message."""
    place, stem = name.partition("#")[0], name.partition(".")[0]
    found = {place, f"docs/{place}", f"docs/{place}.md", f"snippets/{name}.py", f"checks/facts/{stem}.yml"}
    found |= {f"checks/methods/{name}.yml", f"checks/benchmarks/{name}.py"}
    return found | ({claim_path(name)} if _CLAIM.fullmatch(name) else set())


def _uses(claim: ModelledClaim, names: Collection[str]) -> bool:
    return any(figure.claim in names for figure in claim.figures())


def _places_of_claims(context: Context, benchmarks: Collection[str]) -> set[tuple[str, int | None]]:
    """Return the lines that link claims measured with these benchmarks or modelled on them, and the claims' files."""
    every = context.tree.claims.items()
    claims = {name for name, claim in every if isinstance(claim, MeasuredClaim) and claim.benchmark in benchmarks}
    claims |= {name for name, claim in every if isinstance(claim, ModelledClaim) and _uses(claim, claims)}
    return _places_of(context, claims)


def _places_of(context: Context, claims: Collection[str]) -> set[tuple[str, int | None]]:
    """Return the lines that link these claims, and the claims' files."""
    links = (*context.claim_links, *context.let_links)
    lines = {(page.path, link.line) for page, link, to in links if isinstance(to, ClaimTarget) and to.claim in claims}
    return {*lines, *((context.tree.claim_paths[name], None) for name in claims)}
