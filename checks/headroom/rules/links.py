"""Rules `links`, `verdicts` and `hardware`: links lead to existing claims and facts, and agree with the evidence."""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping

from headroom.pages.link_targets import METHODS, ClaimTarget, FactTarget, in_family
from headroom.pages.markdown_syntax import without_fences
from headroom.pages.source import Link, Page
from headroom.records import ModelledClaim, Problem, ReportedClaim
from headroom.records.claims import MeasuredClaim
from headroom.rules import formulas
from headroom.rules.context import Context, at

RETIRED = "retired"
"""The title of a link to a retired claim."""
_HEADING = re.compile(r"^#{1,6}[ \t](?P<title>[^{\n]+)\{ ?#(?P<id>[\w-]+) ?\}$", re.MULTILINE)


def links(context: Context) -> Iterator[Problem]:
    """Report ``claim:``, ``fact:`` and ``methods:`` links whose target does not exist or is not what the text names."""
    tree = context.tree
    yield from _tables(context)
    yield from _headings(context)
    for page in context.pages:
        for line in page.stray:
            message = "the link to a claim, fact or formula has a form that the check cannot read"
            remedy = "write it as [text](claim:the-id) or [text](calc:20*P), in one piece"
            yield Problem(page.path, line, "links", "", message, remedy)
    for page, link, target in context.links:
        if isinstance(target, str):
            yield at(page, link, "links", target, "correct the link")
        elif isinstance(target, FactTarget):
            sheet = tree.sheet(target.sheet)
            if sheet is None or target.figure not in sheet.figures:
                message = f"there is no fact `{target.sheet}.{target.figure}`"
                yield at(page, link, "links", message, "correct the name, or add the figure under checks/facts/")
            elif (name := target.figure.partition("_")[0]) not in _around(context, page, link):
                message = f"the sentence links `{target.sheet}.{target.figure}`, but does not mention {name}"
                yield at(page, link, "links", message, f"link another fact, or mention {name}")
        elif target.claim not in tree.claims:
            remedy = "correct the id, or add the claim under checks/registry/"
            yield at(page, link, "links", f"there is no claim `{target.claim}`", remedy)


def _around(context: Context, page: Page, link: Link) -> str:
    """Return the sentence or table row of a link, in lower case and without spaces."""
    before = page.markdown.rfind("\n", 0, link.start)
    words = page.markdown[before + 1 : page.markdown.find("\n", link.start)]
    if not words.lstrip().startswith("|"):
        found = context.prose[page.path].sentences
        words = found[max(bisect_right(found, link.start, key=lambda each: each.start) - 1, 0)].text
    return "".join(words.lower().split())


def _headings(context: Context) -> Iterator[Problem]:
    """Report links to an anchor of a page whose text is, or begins with, the heading of another anchor there."""
    titles = {page.path: _titles(page) for page in context.pages}
    for page in context.pages:
        for link in page.links:
            path, mark, _ = link.href.partition("#")
            home = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), path)) if path else page.path
            named = titles.get(home) if mark else None
            meant = _meant(_slug(link.text), named) if named else None
            if meant and link.href != f"{path}#{meant}":
                message = f"the text `{link.text}` is the heading of another section than the target `{link.href}`"
                yield at(page, link, "links", message, f"link `{path}#{meant}`, or change the text")


def _titles(page: Page) -> dict[str, str]:
    """Return the anchors of a page's headings, by the slug of the heading."""
    return {_slug(match["title"]): match["id"] for match in _HEADING.finditer(without_fences(page.markdown))}


def _meant(words: str, titles: Mapping[str, str]) -> str | None:
    places = (place for place in titles.values() if "-" in place)
    return titles.get(words) or next((each for each in places if f"{words}-".startswith(f"{each}-")), None)


def _slug(text: str) -> str:
    """Return a heading or link text as an anchor, without a leading article."""
    words = re.sub(r"^(?:an?|the)\s", "", text.lower())
    return re.sub(r"[^\w]+", "-", words).strip("-")


def _tables(context: Context) -> Iterator[Problem]:
    """Report tables of methods for a page that has none."""
    sections = {method.section.partition("#")[0] for method in context.tree.methods.values()}
    for page in context.pages:
        for link in page.links:
            of_page = link.href.removeprefix(METHODS)
            if link.href.startswith(METHODS) and not any(in_family(section, of_page) for section in sections):
                remedy = f"name one of: {', '.join(sorted(sections))}"
                yield at(page, link, "links", f"no method has its section on `{of_page}`", remedy)


def verdicts(context: Context) -> Iterator[Problem]:
    """Report links that assert another verdict than the evidence; a link without a title asserts `supported`."""
    for page, link, target in context.claim_links:
        claim = context.tree.claims[target.claim]
        if claim.retired or link.title == RETIRED:  # the rule `retired` checks these
            continue
        if link.text and not target.figure and isinstance(claim, ModelledClaim):
            yield from formulas.titled(context, page, link, claim)
            continue
        if link.text and not target.figure and isinstance(claim, ReportedClaim):
            yield from _reported(context, page, link, claim)
            continue
        asserts = link.text and not target.figure and isinstance(claim, MeasuredClaim)
        if not asserts:
            if link.title:
                message = f'the title "{link.title}" has no meaning here: this link asserts no verdict'
                yield at(page, link, "verdicts", message, "remove the title")
        elif not page.hardware:
            message = "the page does not say what hardware it is about"
            yield at(page, link, "verdicts", message, "add `hardware: [class]` to its front matter")
        for name in known_classes(context, page) if asserts else ():
            status = context.board.status(claim, name)
            if status != (link.title or "supported") or link.title == "supported":
                asserted = f'"{link.title}"' if link.title else "that the claim is supported"
                title = "remove the title" if status == "supported" else f'write the title "{status}"'
                message = f"the link says {asserted}, but on `{name}` it is {status}"
                yield at(page, link, "verdicts", message, f"{title}, and make the sentence say so")


def _reported(context: Context, page: Page, link: Link, claim: ReportedClaim) -> Iterator[Problem]:
    """Report a link whose title is not the verdict of a reported claim; a link without a title asserts `agrees`."""
    status = context.board.reported[claim.id].status
    if status == "unmeasured":  # the rule `published` says why
        return
    if status != (link.title or "agrees") or link.title == "agrees":
        asserted = f'"{link.title}"' if link.title else "that published rows agree with the claim"
        title = (
            "remove the title" if status == "agrees" else f'write the title "{status}", and make the sentence say so'
        )
        yield at(page, link, "verdicts", f"the link says {asserted}, but the verdict is {status}", title)


def known_classes(context: Context, page: Page) -> list[str]:
    """Return the hardware classes of a page, without unknown ones."""
    return [name for name in page.hardware if name in context.tree.classes]


def hardware(context: Context) -> Iterator[Problem]:
    """Report unknown hardware classes, and CPU results on GPU pages, or the reverse, that do not carry over."""
    for page in context.pages:
        for name in page.hardware:
            if name not in context.tree.classes:
                remedy = f"use one of: {', '.join(context.tree.classes)}"
                yield Problem(page.path, 1, "hardware", "hardware", f"unknown hardware class `{name}`", remedy)
    given = [(page, link, target) for page, link, target in context.let_links if isinstance(target, ClaimTarget)]
    for page, link, target in (*context.claim_links, *given):
        claim = context.tree.claims[target.claim]
        if isinstance(claim, ModelledClaim):
            yield from formulas.from_elsewhere(context, page, link, claim)
        if target.hardware_class is None or not isinstance(claim, MeasuredClaim) or claim.metric.carries_over:
            continue
        measured_on = context.tree.classes.get(target.hardware_class)
        about = [context.tree.classes[name].device for name in known_classes(context, page)]
        if measured_on and any(device != measured_on.device for device in about):
            message = f"the figure was measured on `{target.hardware_class}`, but the page is about "
            message += ", ".join(page.hardware)
            yield at(page, link, "hardware", message, "move it to a page about that hardware")
