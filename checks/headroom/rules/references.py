"""Rule `references`: the methods, pages, benchmarks, arms, classes and models that records name exist."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from headroom.io.python_source import arms_of
from headroom.records import Problem, Tree, snippet_environments
from headroom.records.claims import MeasuredClaim
from headroom.records.machines import Machine
from headroom.records.methods import Method
from headroom.rules.context import Context


def references(context: Context) -> Iterator[Problem]:
    """Report names in records to which no method, page, benchmark, arm, hardware class or model belongs."""
    tree = context.tree
    anchors = {page.path: page.anchors for page in context.pages}
    arms = _arms(tree)
    for claim in tree.claims.values():
        path = tree.claim_paths[claim.id]
        if claim.method is not None and claim.method not in tree.methods:
            remedy = f"correct the name, or add checks/methods/{claim.method}.yml"
            yield _in(tree, path, "method", f"there is no method `{claim.method}`", remedy)
        if f"docs/{claim.guide}" not in anchors:
            yield _in(tree, path, "guide", f"there is no page `docs/{claim.guide}`", "correct the path")
    for claim in tree.measured():
        yield from _measured_references(tree, tree.claim_paths[claim.id], claim, arms.get(claim.benchmark))
    yield from _fixed_alike(tree)
    for method in tree.methods.values():
        yield from _method_references(tree, method, anchors)
    for session in tree.sessions:
        if session.head.hardware_class not in tree.classes:
            name = session.head.hardware_class
            remedy = "add it to checks/facts/hardware-classes.yml"
            yield _in(tree, session.path, "/hardware_class", f"unknown hardware class `{name}`", remedy)
    for path, machine in tree.machines.items():
        yield from _class_of(tree, path, machine)
    yield from _harness_proofs(tree)
    served = {*tree.stand_ins.models, *tree.stand_ins.datasets}
    for snippet in tree.snippets.values():
        for name in {*snippet.header.models, *snippet.header.datasets} - served:
            yield _in(tree, snippet.path, "models", f"no stand-in for `{name}`", "add it to checks/facts/stand-ins.yml")
        if snippet.header.environment not in (None, *tree.environments):
            message = f"unknown environment `{snippet.header.environment}`"
            yield _in(tree, snippet.path, "environment", message, f"add it to {snippet_environments.PATH}")


def _harness_proofs(tree: Tree) -> Iterator[Problem]:
    measured_by = {session.path: session.head.harness for session in tree.sessions}
    for group in tree.harness_versions.equivalent:
        if measured_by.get(group.proof) not in group.harness:
            message = f"`{group.proof}` is not a session that one of these versions measured"
            remedy = "measure a program against itself with one of them, and name that session"
            yield _in(tree, "checks/facts/harness-versions.yml", "equivalent", message, remedy)


def _class_of(tree: Tree, path: str, machine: Machine) -> Iterator[Problem]:
    name = machine.hardware_class
    if name not in tree.classes:
        remedy = "add it to checks/facts/hardware-classes.yml"
        yield _in(tree, path, "/hardware_class", f"unknown hardware class `{name}`", remedy)
    elif not tree.classes[name].holds(machine.environment):
        remedy = f"measure with the threads and the power limit of the class, or correct what `{name}` must match"
        yield _in(tree, path, "/environment", f"the machine does not match the hardware class `{name}`", remedy)


def _arms(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Return the arms of each benchmark."""
    folder = tree.root / "checks/benchmarks"
    return {name: arms_of((folder / f"{name}.py").read_text(encoding="utf-8")) for name in tree.benchmarks}


def _method_references(tree: Tree, method: Method, anchors: Mapping[str, frozenset[str]]) -> Iterator[Problem]:
    path = f"checks/methods/{method.id}.yml"
    for field, section in (
        ("section", method.section),
        *((f"elsewhere.{key}", at) for key, at in method.elsewhere.items()),
    ):
        yield from _section_references(tree, method, field, section, anchors)
    if method.same_result is not None and method.same_result not in tree.snippets:
        message = f"there is no snippet `{method.same_result}`"
        yield _in(tree, path, "same_result", message, "correct the name, as `training/gradient_accumulation`")
    for claim_id in (found for ids in method.claims.values() for found in ids):
        if claim_id not in tree.claims:
            yield _in(tree, path, "claims", f"there is no claim `{claim_id}`", "correct the id")


def _section_references(
    tree: Tree, method: Method, field: str, section: str, anchors: Mapping[str, frozenset[str]]
) -> Iterator[Problem]:
    path = f"checks/methods/{method.id}.yml"
    name, _, anchor = section.partition("#")
    places = anchors.get(f"docs/{name}")
    if places is None:
        yield _in(tree, path, field, f"there is no page `docs/{section}`", "correct the path")
    elif anchor not in places:
        yield _in(tree, path, field, f"`docs/{name}` has no anchor `#{anchor}`", "correct the anchor")
    elif anchor != method.id and method.id in places:
        message = f"`docs/{name}` has an anchor with the id of the method, and the method names another one"
        yield _in(tree, path, field, message, f"write `{name}#{method.id}`, or rename that anchor")


def _measured_references(
    tree: Tree, path: str, claim: MeasuredClaim, arms: tuple[str, ...] | None
) -> Iterator[Problem]:
    for name in claim.scope.hardware:
        if name not in tree.classes:
            remedy = "add it to checks/facts/hardware-classes.yml"
            yield _in(tree, path, "scope.hardware", f"unknown hardware class `{name}`", remedy)
    if arms is None:
        yield _in(
            tree, path, "benchmark", f"there is no benchmark `{claim.benchmark}`", "add it under checks/benchmarks/"
        )
        return
    remedy = f"use one of: {', '.join(arms)}" if arms else "declare `ARMS = (…)` in it, a tuple of strings"
    for field, name in (("subject", claim.subject), ("baseline", claim.baseline)):
        if name not in arms:
            yield _in(tree, path, field, f"the benchmark has no arm `{name}`", remedy)
    if {claim.subject, claim.baseline} <= {*arms}:
        yield from _other_arm(tree, path, claim, arms)


def _other_arm(tree: Tree, path: str, claim: MeasuredClaim, arms: tuple[str, ...]) -> Iterator[Problem]:
    """Report a statement with all words of another arm that lacks words of the compared arms."""
    stated = _words(claim.statement)
    unnamed = [arm for arm in (claim.subject, claim.baseline) if not _words(arm) <= stated]
    own = _words(f"{claim.subject} {claim.baseline}") if unnamed else frozenset()
    for arm in arms if unnamed else ():
        if _words(arm) <= stated and not _words(arm) <= own:
            message = f"the sentence names the arm `{arm}`, but the claim compares `{claim.subject}` with "
            message += f"`{claim.baseline}`"
            yield _in(tree, path, "statement", message, "name the arms that the claim compares")


@lru_cache(maxsize=1024)  # all claims of a benchmark ask for the same arms
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", text.lower()))


def _fixed_alike(tree: Tree) -> Iterator[Problem]:
    """Report fixed conditions that differ between two claims of a benchmark: the benchmark fixes them, not a claim."""
    first: dict[tuple[str, str], MeasuredClaim] = {}
    for claim in tree.measured():
        for name, value in claim.scope.fixed.items():
            other = first.setdefault((claim.benchmark, name), claim)
            if other.scope.fixed[name] != value:
                message = f"{name} is {value} here, but {other.scope.fixed[name]} in `{other.id}` of the same benchmark"
                remedy = "write in both claims the value that the benchmark uses"
                yield _in(tree, tree.claim_paths[claim.id], "scope.fixed", message, remedy)


def _in(tree: Tree, path: str, field: str, message: str, remedy: str) -> Problem:
    """Return a problem at the line of a record's field."""
    document = tree.documents.get(path)
    line = document.line(tuple(field.split("."))) or 1 if document and document.lines else None
    return Problem(path, line, "references", field, message, remedy)
