"""Rule `retired`: links to retired claims say so, methods list none, and the claims that replace them are active."""

from collections.abc import Iterator

from headroom.records import Problem, Tree
from headroom.records.claims import Claim
from headroom.rules.context import Context, at
from headroom.rules.links import RETIRED


def retired(context: Context) -> Iterator[Problem]:
    """Report unmarked links to retired claims, methods that list one, and replacements that are not active claims."""
    tree = context.tree
    for claim in tree.claims.values():
        yield from _replacement(tree, claim)
    for method in tree.methods.values():
        for name in (found for ids in method.claims.values() for found in ids):
            if name in tree.claims and tree.claims[name].retired:
                message, remedy = f"`{name}` is retired", "remove it, or list the claim that replaced it"
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
            message = f"the link says that `{target.claim}` is retired, but the claim is active"
            yield at(page, link, "retired", message, "remove the title")


def _replacement(tree: Tree, claim: Claim) -> Iterator[Problem]:
    """Report a replacement of a retired claim that does not exist or is retired too."""
    name = claim.retired.superseded_by if claim.retired else None
    if name is None or (name in tree.claims and not tree.claims[name].retired):
        return
    message = f"`{name}` is retired too" if name in tree.claims else f"there is no claim `{name}`"
    path, remedy = tree.claim_paths[claim.id], "name the active claim that replaced this one, or remove the key"
    yield _in(tree, path, "retired.superseded_by", message, remedy)


def _in(tree: Tree, path: str, field: str, message: str, remedy: str) -> Problem:
    """Return a problem at the line of a record's field."""
    return Problem(path, tree.documents[path].line(tuple(field.split("."))) or 1, "retired", field, message, remedy)
