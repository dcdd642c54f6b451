"""Claims that are no longer made: nothing leans on one without saying so, and what took its place is made."""

from collections.abc import Iterator

from headroom.records import Problem, Tree
from headroom.records.claims import Claim
from headroom.rules.context import Context, at
from headroom.rules.links import RETIRED


def retired(context: Context) -> Iterator[Problem]:
    """What links a retired claim says so, no method lists one, and an active claim is what took its place."""
    tree = context.tree
    for claim in tree.claims.values():
        yield from _heir(tree, claim)
    for method in tree.methods.values():
        for name in (found for ids in method.claims.values() for found in ids):
            if name in tree.claims and tree.claims[name].retired:
                message, remedy = f"`{name}` is retired", "list the claim that took its place, or none"
                path = f"checks/methods/{method.id}.yml"
                yield _in(tree, path, "claims", message, remedy)
    for page, link, target in context.claim_links:
        over = tree.claims[target.claim].retired
        if over and link.title != RETIRED:
            remedy = (
                f'write the title "{RETIRED}", and make the sentence say so, or link {over.superseded_by or "another"}'
            )
            yield at(page, link, "retired", f"`{target.claim}` is retired since {over.since}", remedy)
        elif link.title == RETIRED and not over:
            yield at(page, link, "retired", f"the link says that `{target.claim}` is retired", "remove the title")


def _heir(tree: Tree, claim: Claim) -> Iterator[Problem]:
    """What is wrong with the claim that took a retired one's place."""
    name = claim.retired.superseded_by if claim.retired else None
    if name is None or (name in tree.claims and not tree.claims[name].retired):
        return
    message = f"`{name}` is retired itself" if name in tree.claims else f"there is no claim `{name}`"
    path, remedy = tree.claim_paths[claim.id], "name the active claim that took its place, or none"
    yield _in(tree, path, "retired.superseded_by", message, remedy)


def _in(tree: Tree, path: str, field: str, message: str, remedy: str) -> Problem:
    """A problem at the line of a record's field."""
    return Problem(path, tree.documents[path].line(tuple(field.split("."))) or 1, "retired", field, message, remedy)
