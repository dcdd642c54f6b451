"""Rule `addresses`: each old address redirects to one existing page or anchor."""

from collections.abc import Iterator

from headroom.pages.old_pages import Lead, address, leads
from headroom.records import Problem
from headroom.rules.context import Context


def addresses(context: Context) -> Iterator[Problem]:
    """Report old addresses with two targets, with a missing target, or that still exist as pages or anchors."""
    anchors = {page.path.removeprefix("docs/"): page.anchors for page in context.pages}
    standing = {address(page): page.anchors for page in context.pages}
    found = list(leads(context.tree, context.pages))
    by_old: dict[str, Lead] = {}
    for lead in found:
        first = by_old.setdefault(lead.old, lead)
        name, _, place = lead.target.partition("#")
        if first is not lead and not (lead.old in standing and _is_part(first) and _is_part(lead)):
            message = f"`{lead.old}` already redirects to {first.target}, as {first.path} says"
            yield _at(context, lead, message, "remove it from one of the two files")
        if lead.field[0] == "was" and place and name in anchors and place not in anchors[name]:
            yield _at(context, lead, f"`docs/{name}` has no anchor `#{place}`", "correct the anchor")
    known = {*by_old, *standing}
    for lead in found:
        name, _, anchor = lead.old.partition("#")
        if name not in known:
            remedy = f"add `{name}` to the `was` of the page that replaces most of it"
            yield _at(context, lead, f"only anchors of `{name}` redirect, and the page itself does not", remedy)
        if anchor in standing.get(name, ()) or (not anchor and name in standing and not _is_part(lead)):
            yield _at(context, lead, f"`{lead.old}` still exists", "remove it from `was`, or rename the page or anchor")


def _is_part(lead: Lead) -> bool:
    """Return whether a page as a whole names an old page as its predecessor."""
    return lead.path.startswith("docs/") and "#" not in f"{lead.old}{lead.target}"


def _at(context: Context, lead: Lead, message: str, remedy: str) -> Problem:
    document = context.tree.documents.get(lead.path)
    line = document.line(lead.field) or 1 if document else 1
    return Problem(lead.path, line, "addresses", ".".join(lead.field), message, remedy)
