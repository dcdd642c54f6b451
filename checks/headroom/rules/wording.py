"""Rule `words`: words for size, certainty, cost and hardware in a sentence agree with the claims that it links."""

import re
from collections.abc import Callable, Iterator

from headroom.pages import quantifiers
from headroom.pages.link_targets import ClaimTarget
from headroom.pages.measured_figures import measured
from headroom.pages.quantifiers import Degree
from headroom.records import Problem
from headroom.records.claims import CitedClaim, MeasuredClaim
from headroom.records.modelled_claims import ModelledClaim
from headroom.records.reported_claims import ReportedClaim, ReportedMetric
from headroom.rules import formulas, reported_words
from headroom.rules.context import Context
from headroom.rules.passages import Passage, Statement, passages, statements
from headroom.verdicts.standing import Standing

_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")
_COUNT = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:-[a-z]+)?")
"""A number with a hyphenated word after it: `8-bit`."""

Fault = tuple[str, str]
"""A message and a remedy."""


def words(context: Context) -> Iterator[Problem]:
    """Report words for size, certainty, cost or hardware that disagree with the claims of their sentence."""
    for passage in passages(context):
        for fault in _faults(context, passage):
            yield Problem(passage.path, passage.line, "words", "", *fault)
    for passage in statements(context, lambda text: not quantifiers.has_none(text, text)):
        for fault in _faults(context, passage):
            line = context.tree.documents[passage.path].line(("statement",))
            yield Problem(passage.path, line, "words", "statement", *fault)


def _faults(context: Context, passage: Passage) -> Iterator[Fault]:
    unquantified = quantifiers.has_none(passage.text, passage.typed)
    for check in (_directions, _extremes, _quotes, _numbers) if unquantified else _CHECKS:
        yield from check(context, passage)


def _degrees(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `halves`, `twice`, `slightly`, `an order of magnitude` if no claim shows a ratio of that size."""
    for degree in quantifiers.degrees(passage.text):
        if not any(_is_of_degree(context, each, degree) for each in passage.claims):
            shown = "; ".join(dict.fromkeys(_shown(context, each) for each in passage.claims))
            yield (
                f"`{degree.word}` means a factor of {degree}, but {shown}",
                "choose a word that fits, or link a figure",
            )


def _is_of_degree(context: Context, linked: Statement, degree: Degree) -> bool:
    if isinstance(linked.claim, CitedClaim):
        return degree.word.lower() in linked.claim.quote.lower() or any(map(degree.fits, _cited_ratios(linked.claim)))
    ratios = _ratios(context, linked)
    every = all if linked.title is None and not linked.target.figure else any
    return bool(ratios) and every(map(degree.fits, ratios))


def _cited_ratios(claim: CitedClaim) -> Iterator[float]:
    """Yield the factors that the figures of a source may express."""
    for figure in claim.figures:
        if figure.unit == "%":
            yield 1 + figure.value / 100
            yield 1 / (1 - figure.value / 100) if figure.value < 100 else 0.0  # noqa: PLR2004 - per cent
        else:
            yield figure.value
    values = [figure.value for figure in claim.figures]
    yield from (a / b for a in values for b in values if b > 0 and a > b)


def _ratios(context: Context, linked: Statement) -> list[float]:
    """Return the measured improvements at the points that the link asserts."""
    if isinstance(linked.claim, ModelledClaim):
        return formulas.factors(context, linked.claim)
    if isinstance(linked.claim, ReportedClaim):
        return reported_words.ratios(context, linked.claim)
    asserts_all = linked.title is None and not linked.target.figure
    return [
        point.ratio
        for standing in _standings(context, linked)
        if standing.verdict
        for point in standing.verdict.points
        if point.n and (point.asserted or not asserts_all)
        if all(point.point.get(name) == value for name, value in linked.target.point.items())
    ]


def _standings(context: Context, linked: Statement) -> list[Standing]:
    """Return a claim's standings on the hardware classes of the link, or on all classes if the claim carries over."""
    assert isinstance(linked.claim, MeasuredClaim)
    if linked.target.hardware_class:
        return [context.board.of(linked.claim, linked.target.hardware_class)]
    own = [context.board.of(linked.claim, name) for name in linked.hardware]
    found = [standing for standing in own if standing.verdict]
    if found or not linked.claim.metric.carries_over:
        return found
    return [standing for standing in context.board.standings[linked.claim.id].values() if standing.verdict]


def _shown(context: Context, linked: Statement) -> str:
    if isinstance(linked.claim, CitedClaim):
        return f"`{linked.claim.id}` quotes {', '.join(figure.as_printed for figure in linked.claim.figures)}"
    ratios = _ratios(context, linked)
    if not ratios:
        return f"`{linked.claim.id}` {'computes no factor' if linked.claim.kind == 'modelled' else 'is not measured'}"
    low, high = min(ratios), max(ratios)
    return f"`{linked.claim.id}` shows {low:.2f}" + (f" to {high:.2f}" if high > low else "")


def _directions(_context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `faster`, `less` in a link's text if the claim says the opposite."""
    for each in passage.claims:
        if isinstance(each.claim, MeasuredClaim | ReportedClaim) and not each.target.figure:
            metric = each.claim.metric
            rate = (metric if isinstance(metric, ReportedMetric) else metric.kind).better == "higher"
            of_link = quantifiers.directions(each.text, rate=rate)
            of_claim = quantifiers.directions(each.claim.statement, rate=rate) if of_link else of_link
            if of_link and of_claim and not of_link & of_claim:
                message = f"the link says `{each.text}`; the claim says: {each.claim.statement}"
                yield message, "say what the claim says, or link another claim"


def _surely(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `always`, `on any GPU` if a class or a point of every claim is an exception."""
    match = quantifiers.ALWAYS.search(passage.text)
    if match and not any(_without_exception(context, each, match[0]) for each in passage.claims):
        yield f"`{match[0]}` allows no exception, but the evidence has exceptions or gaps", "say where it holds"


def _without_exception(context: Context, linked: Statement, word: str) -> bool:
    if isinstance(linked.claim, CitedClaim):
        return word.lower() in linked.claim.quote.lower()
    if linked.title == "contradicted":
        return True
    if isinstance(linked.claim, ReportedClaim):
        return False
    standings = context.board.standings[linked.claim.id].values()
    points = [point for standing in standings if standing.verdict for point in standing.verdict.points]
    return (
        all(standing.status == "supported" for standing in standings)
        and bool(points)
        and all(point.verdict == "supported" for point in points)
    )


def _freely(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `for free`, `without slowing down` if no claim shows that nothing is lost."""
    match = quantifiers.FREE.search(passage.text)
    if match and not any(_nothing_lost(context, each) for each in passage.claims):
        remedy = "link the claim that shows it (not_worse or equal_within), or name the cost"
        yield f"`{match[0]}` says that there is no cost, but no claim in the sentence shows that", remedy


def _nothing_lost(context: Context, linked: Statement) -> bool:
    if isinstance(linked.claim, CitedClaim):
        return quantifiers.NO_LOSS.search(linked.claim.quote) is not None
    if isinstance(linked.claim, ModelledClaim):
        return False
    if isinstance(linked.claim, ReportedClaim):
        return linked.claim.relation in ("not_worse", "equal_within") and linked.title is None
    supported = any(standing.status == "supported" for standing in _standings(context, linked))
    return linked.claim.relation != "better" and supported


def _extremes(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `up to` and `at least` before a figure that is not the extreme of its sweep."""
    for each in passage.claims:
        for words, best, name in ((quantifiers.AT_MOST, max, "greatest"), (quantifiers.AT_LEAST, min, "smallest")):
            if each.target.figure and (match := words.search(each.before)):
                yield from _extreme(context, each, match[0].strip(), best, name)


def _extreme(
    context: Context, linked: Statement, word: str, best: Callable[[list[float]], float], name: str
) -> Iterator[Fault]:
    values = _over_the_sweep(context, linked)
    try:
        value = abs(measured(context.tree, context.board, linked.target)[0])
    except LookupError:
        return  # the rule `figures` reports it
    if len(values) <= 1:
        yield f"`{word}` is written before the only figure of `{linked.claim.id}`", "remove these words"
    elif value != best(values):
        yield f"`{word}` is written before a figure that is not the {name} of the sweep", f"link the {name} figure"


def _over_the_sweep(context: Context, linked: Statement) -> list[float]:
    """Return the figure of a link at every measured point."""
    target = linked.target
    standing = context.board.standings[linked.claim.id].get(target.hardware_class or "")
    points = standing.verdict.points if standing and standing.verdict else ()
    targets = [ClaimTarget(target.claim, target.figure, target.hardware_class, p.point) for p in points if p.n]
    return [abs(measured(context.tree, context.board, each)[0]) for each in targets]


def _figures(_context: Context, passage: Passage) -> Iterator[Fault]:
    """Report a figure typed in a claim's statement; the rule `typed` checks pages."""
    match = quantifiers.TYPED.search(passage.typed) if passage.line is None else None
    if match:
        yield f"the statement types the figure `{match[0]}`", "remove it; pages link the measured figure"


def _quotes(_context: Context, passage: Passage) -> Iterator[Fault]:
    """Report numbers that do not occur in a source's quote, and a missing `up to` of the source."""
    for each in passage.claims:
        if not isinstance(each.claim, CitedClaim):
            continue
        quoted = {_value(number) for number in _NUMBER.findall(each.claim.quote.replace("x", " "))}
        quoted |= {figure.value for figure in each.claim.figures}
        for number in _NUMBER.findall(each.text):
            if _value(number) not in quoted:
                yield f"`{number}` does not occur in the quote of `{each.claim.id}`", "use a number of the quote"
        reserved = quantifiers.RESERVED.search(passage.text) is not None
        if _NUMBER.search(each.text) and quantifiers.RESERVED.search(each.claim.quote) and not reserved:
            yield f"the source of `{each.claim.id}` says `up to`, but the sentence does not", "add `up to`"


def _numbers(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report a number in a link's text that does not occur in its claim: 8 sequences, 8-bit AdamW."""
    for each in passage.claims:
        if isinstance(each.claim, CitedClaim) or each.target.figure:
            continue
        numbers = _COUNT.findall(each.text)
        known = set(_COUNT.findall(_record(context, each.claim))) if numbers else set()
        for number in numbers:
            if number not in known:
                yield f"`{number}` does not occur in the claim `{each.claim.id}`", "use a number of the claim"


def _record(context: Context, claim: MeasuredClaim | ReportedClaim | ModelledClaim) -> str:
    if isinstance(claim, ReportedClaim):
        return reported_words.record(context, claim)
    if isinstance(claim, ModelledClaim):
        return formulas.words_of(claim)
    return f"{claim.statement} {claim.subject} {claim.baseline} {claim.scope.fixed} {claim.scope.points}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _places(context: Context, passage: Passage) -> Iterator[Fault]:
    """Report `on an H200`, `on a GPU` if no claim of the sentence was measured there."""
    for match in quantifiers.PLACE.finditer(passage.text):
        name = match["product"] or match["kind"] or match["kinds"]
        if not any(_holds_on(context, each, name.removesuffix("s")) for each in passage.claims):
            remedy = "name the hardware of the evidence"
            yield f"`{match[0]}`: no claim in the sentence was measured on that hardware", remedy


def _holds_on(context: Context, linked: Statement, name: str) -> bool:
    if isinstance(linked.claim, CitedClaim):
        of_source = f"{linked.claim.hardware_as_stated} {linked.claim.quote} {linked.claim.source.title}"
        return re.search(rf"\b{re.escape(name)}", of_source, re.IGNORECASE) is not None
    if isinstance(linked.claim, ModelledClaim):
        return any(_is_named(context, c, name) for c in formulas.holds_on(context, linked.claim))
    if isinstance(linked.claim, ReportedClaim):
        return reported_words.holds_on(context, linked.claim, name)
    if linked.title in ("unmeasured", "contradicted") or linked.claim.metric.carries_over:
        return True
    measured_on = {c for c, standing in context.board.standings[linked.claim.id].items() if standing.verdict}
    if linked.target.hardware_class:
        measured_on &= {linked.target.hardware_class}
    return any(_is_named(context, c, name) for c in measured_on if c in context.tree.classes)


def _is_named(context: Context, hardware_class: str, name: str) -> bool:
    """Return whether a name is the kind (CPU, GPU) or the product of a hardware class."""
    known = context.tree.classes[hardware_class]
    kind = {"cpu": "CPU", "cuda": "GPU"}[known.device]
    return name == kind or name in f"{known.name} {known.match.product}"


_CHECKS = (_degrees, _directions, _surely, _freely, _extremes, _figures, _quotes, _numbers, _places)
