"""Old addresses: each leads to one place, which stands."""

from collections.abc import Iterator

from headroom.pages.old_pages import Lead, address, leads
from headroom.records import Problem
from headroom.rules.context import Context


def addresses(context: Context) -> Iterator[Problem]:
    """An old address leads to one place, which stands, and no longer stands itself."""
    anchors = {page.path.removeprefix("docs/"): page.anchors for page in context.pages}
    standing = {address(page): page.anchors for page in context.pages}
    found = list(leads(context.tree, context.pages))
    by_old: dict[str, Lead] = {}
    for lead in found:
        first = by_old.setdefault(lead.old, lead)
        name, _, place = lead.target.partition("#")
        if first is not lead and not (lead.old in standing and _is_part(first) and _is_part(lead)):
            message = f"`{lead.old}` leads to {first.target} by {first.path} already"
            yield _at(context, lead, message, "take it out of one of the two")
        if lead.field[0] == "was" and place and name in anchors and place not in anchors[name]:
            yield _at(context, lead, f"`docs/{name}` has no place `#{place}`", "correct the anchor")
    known = {*by_old, *standing}
    for lead in found:
        name, _, anchor = lead.old.partition("#")
        if name not in known:
            remedy = f"name `{name}` in the `was` of the page that is nearest to it"
            yield _at(context, lead, f"nothing says where the rest of `{name}` leads", remedy)
        if anchor in standing.get(name, ()) or (not anchor and name in standing and not _is_part(lead)):
            yield _at(context, lead, f"`{lead.old}` still stands", "remove it, or give that place another name")


def _is_part(lead: Lead) -> bool:
    """Whether a page says that it was, as a whole, at an address."""
    return lead.path.startswith("docs/") and "#" not in f"{lead.old}{lead.target}"


def _at(context: Context, lead: Lead, message: str, remedy: str) -> Problem:
    document = context.tree.documents.get(lead.path)
    line = document.line(lead.field) or 1 if document else 1
    return Problem(lead.path, line, "addresses", ".".join(lead.field), message, remedy)
