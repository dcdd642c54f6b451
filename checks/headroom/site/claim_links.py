"""Replace `claim:` and `fact:` links with their target, badge, figure or summary."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, SubElement

from headroom.maths.units import human_readable
from headroom.pages.link_targets import ClaimTarget, FactTarget, parse_target
from headroom.pages.measured_figures import measured
from headroom.records import CitedClaim, Claim, MeasuredClaim, ModelledClaim, ReportedClaim
from headroom.site import hardware_switch
from headroom.site.claims import (
    cited_claim,
    modelled_claim,
    phrasing,
    reported_claim,
    retirement_notice,
    verdict_sentence,
)
from headroom.site.site_data import UNSEARCHED, PageContext, SiteData, claim_page
from headroom.verdicts import Status

_ORDER: tuple[Status, ...] = ("contradicted", "disputed", "flips", "inconclusive", "unmeasured", "supported")


def resolve(link: Element, site: SiteData, page: PageContext) -> None:
    """Resolve one `claim:` or `fact:` link in place: its address, text, title and badge.

    Raises:
        ValueError: the link has no known form.
        LookupError: the claim, fact or figure does not exist.
    """
    target = parse_target(link.get("href", ""))
    if isinstance(target, FactTarget):
        _fact(link, site, target)
        return
    claim = site.tree.claims.get(target.claim)
    if claim is None:
        raise LookupError(f"there is no claim `{target.claim}`")
    if target.figure:
        _figure(link, site, claim, target)
    elif not _text(link):
        _summary(link, site, page, claim)
    else:
        _badged(link, site, page, claim)
    link.set("href", page.href(claim_page(claim.id)))


def _text(link: Element) -> str:
    return "".join(link.itertext()).strip()


def _fact(link: Element, site: SiteData, target: FactTarget) -> None:
    sheet = site.tree.sheet(target.sheet)
    cell = sheet.figures.get(target.figure) if sheet else None
    if sheet is None or cell is None:
        raise LookupError(f"there is no fact `{target.sheet}.{target.figure}`")
    source = sheet.sources[cell.source]
    link.set("href", source.url)
    link.set("class", "fact")
    link.set("title", f"{source.title}, {source.locator}")


def _figure(link: Element, site: SiteData, claim: Claim, target: ClaimTarget) -> None:
    value, unit = measured(site.tree, site.board, target)
    if not _text(link):
        link.text = phrasing.change(value) if target.figure == "change" else human_readable(value, unit)
    shown = _badge_text(site, [target.hardware_class or ""], claim)
    link.set("class", "claim-figure retired" if claim.retired else "claim-figure")
    link.set("title", shown.sentence)
    if claim.retired:
        link.append(badge(shown.status, shown.word))


@dataclass(frozen=True, slots=True)
class _BadgeText:
    """The badge of a claim and the sentences shown as its title."""

    status: Status | Literal["retired"]
    word: str
    sentence: str


def _badge_text(site: SiteData, classes: Sequence[str], claim: Claim) -> _BadgeText:
    """Return a claim's badge over several classes; if they differ, it names the class with the worst status."""
    if claim.retired:
        return _BadgeText("retired", "retired", retirement_notice.sentence(claim))
    if isinstance(claim, CitedClaim):
        return _BadgeText("cited", cited_claim.word(claim), cited_claim.sentence(claim))
    if isinstance(claim, ModelledClaim):
        model = site.board.models[claim.id]
        return _BadgeText(model.status, modelled_claim.word(model), modelled_claim.sentence(claim, model))
    if isinstance(claim, ReportedClaim):
        seen = site.board.reported[claim.id]
        return _BadgeText(seen.status, reported_claim.word(seen), reported_claim.sentence(claim, seen))
    found = [phrasing.view(site, claim, name) for name in classes]
    worst = min(found, key=lambda view: _ORDER.index(view.status))
    differ = len({view.status for view in found}) > 1 and worst.status != "unmeasured"
    place = f" on {site.class_name(worst.hardware)}" if differ else ""
    return _BadgeText(worst.status, worst.word + place, " ".join(map(verdict_sentence.verdict_sentence, found)))


def _classes(site: SiteData, page: PageContext, claim: Claim) -> Sequence[str]:
    """Return the page's hardware classes, or else the claim's own."""
    return page.hardware or site.classes_of(claim)


def _badged(link: Element, site: SiteData, page: PageContext, claim: Claim) -> None:
    shown = _badge_text(site, _classes(site, page, claim), claim)
    link.set("class", "claim retired" if claim.retired else "claim")
    link.set("title", shown.sentence)
    _follow(link, claim)
    link.append(badge(shown.status, shown.word))


def _follow(link: Element, claim: Claim) -> None:
    """Mark a link whose badge changes with the hardware switch."""
    if isinstance(claim, MeasuredClaim) and not claim.retired:
        link.set(hardware_switch.MARK, claim.id)


def badge(status: Status | Literal["retired"], word: str) -> Element:
    """Return a badge; the style sheet adds its shape and colour."""
    found = Element("span", {"class": f"badge badge-{status}", **UNSEARCHED})
    found.text = word
    return found


def _summary(link: Element, site: SiteData, page: PageContext, claim: Claim) -> None:
    """Fill an empty link with a table cell's summary of the claim, one line per hardware class."""
    classes = _classes(site, page, claim)
    shown = _badge_text(site, classes, claim)
    link.set("class", "claim claim-summary")
    link.attrib.update(UNSEARCHED)
    link.set("title", shown.sentence)
    _follow(link, claim)
    if claim.retired:  # its figures no longer count
        link.append(badge(shown.status, shown.word))
        return
    if isinstance(claim, CitedClaim):
        link.extend(_cited(claim))
        return
    if isinstance(claim, ModelledClaim):
        model = site.board.models[claim.id]
        link.extend([_element("strong", modelled_claim.result(claim, model)), _element("small", claim.predicts.name)])
        link.append(badge(model.status, modelled_claim.word(model)))
        return
    if isinstance(claim, ReportedClaim):
        link.extend(_reported(claim, site))
        link.append(badge(shown.status, shown.word))
        return
    for i, name in enumerate(classes):
        if i:
            SubElement(link, "br")
        link.extend(_line(phrasing.view(site, claim, name), named=len(classes) > 1))


def _line(view: phrasing.View, *, named: bool) -> Iterator[Element]:
    """Yield the figure, conditions and badge of one class."""
    point = phrasing.shown_point(view)
    if point:
        yield _element("strong", phrasing.before_after(view.claim, point))
        yield _element("small", phrasing.conditions(view, point) + (f", {view.place}" if named else ""))
    elif named:
        yield _element("small", view.place)
    yield badge(view.status, view.word)


def _cited(claim: CitedClaim) -> Iterator[Element]:
    """Yield the source's figure if the claim has `in_brief`, then its hardware, year and badge."""
    if claim.in_brief:
        yield _element("strong", claim.in_brief)
    where = f"on {cited_claim.hardware(claim)}, " if cited_claim.hardware(claim) else ""
    yield _element("small", f"{where}{claim.source.year}")
    yield badge("cited", cited_claim.word(claim))


def _reported(claim: ReportedClaim, site: SiteData) -> Iterator[Element]:
    """Yield the figure, `in_brief` and the conditions of each published comparison."""
    what = f"{claim.in_brief}; " if claim.in_brief else ""  # once, before the first place and date
    for i, (figure, where) in enumerate(reported_claim.summaries(claim, site.board.reported[claim.id])):
        if i:
            yield Element("br")
        yield _element("strong", figure)
        yield _element("small", where if i else f"{what}{where}")


def _element(tag: str, text: str) -> Element:
    found = Element(tag)
    found.text = text
    found.tail = " "
    return found
