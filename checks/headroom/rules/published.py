"""Rule `published`: published comparisons name a reported claim, and their rows pass every gate."""

from collections.abc import Iterator

from headroom.records import Problem, ReportedClaim
from headroom.records.published_rows import FOLDER
from headroom.rules.context import Context
from headroom.verdicts.published_gates import faults


def published(context: Context) -> Iterator[Problem]:
    """Report comparisons whose rows do not count, claims without a comparison, and files that no comparison names."""
    tree = context.tree
    found = tree.published
    for name, record in found.comparisons.items():
        claim = tree.claims.get(record.claim)
        if claim is None:
            message, remedy = f"there is no claim `{record.claim}`", "correct the id, or add the claim"
            yield _in(context, name, "claim", message, remedy)
        elif not isinstance(claim, ReportedClaim):
            message, remedy = f"`{claim.id}` is a {claim.kind} claim", "name a claim of `kind: reported`"
            yield _in(context, name, "claim", message, remedy)
        for fault in faults(record, found):
            yield _in(context, name, *fault)
    if not any(problem.path.startswith(f"{FOLDER}/") for problem in context.problems):  # it may name anything
        yield from _undecided(context)
        yield from _unused(context)


def _undecided(context: Context) -> Iterator[Problem]:
    """Report active reported claims that no published comparison names."""
    used = {record.claim for record in context.tree.published.comparisons.values()}
    for claim in context.tree.claims.values():
        if isinstance(claim, ReportedClaim) and claim.id not in used and not claim.retired:
            message, remedy = "no published comparison decides the claim", f"add one to {FOLDER}/"
            yield Problem(context.tree.claim_paths[claim.id], 1, "published", "", message, remedy)


def _unused(context: Context) -> Iterator[Problem]:
    """Report rows and licences that no comparison names."""
    found = context.tree.published
    named = {name for each in found.comparisons.values() for name in (each.rows.file, each.source.licence_text)}
    folders = {name.partition("/")[0] for name in named}
    for name in sorted({*found.tables, *found.licences} - named):
        if name in found.tables or name.partition("/")[0] not in folders:
            message = "no published comparison uses the file"
            yield Problem(f"{FOLDER}/{name}", None, "published", "", message, "name it in a record, or delete it")


def _in(context: Context, name: str, field: str, message: str, remedy: str) -> Problem:
    path = context.tree.published.paths[name]
    line = context.tree.documents[path].line(tuple(field.split("."))) or 1
    return Problem(path, line, "published", field, message, remedy)
