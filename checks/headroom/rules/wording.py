"""Words against evidence: how much, how surely and on what hardware a sentence says what its claims show."""

import re
from collections.abc import Callable, Iterator

from headroom.pages import quantifiers
from headroom.pages.link_targets import ClaimTarget
from headroom.pages.measured_figures import measured
from headroom.pages.quantifiers import Degree
from headroom.records import Problem
from headroom.records.claims import CitedClaim, MeasuredClaim
from headroom.records.modelled_claims import ModelledClaim
from headroom.rules import formulas
from headroom.rules.context import Context
from headroom.rules.passages import Passage, Statement, passages, statements
from headroom.verdicts.standing import Standing

_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")
_COUNT = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:-[a-z]+)?")
"""As above, with the word that goes on behind it: `8-bit`."""

Fault = tuple[str, str]
"""What is wrong, and what to do."""


def words(context: Context) -> Iterator[Problem]:
    """A word that says how much, how surely or on what hardware fits what the claims of its sentence show."""
    for passage in passages(context):
        for fault in _faults(context, passage):
            yield Problem(passage.path, passage.line, "words", "", *fault)
    for passage in statements(context, lambda text: not quantifiers.has_none(text, text)):
        for fault in _faults(context, passage):
            line = context.tree.documents[passage.path].line(("statement",))
            yield Problem(passage.path, line, "words", "statement", *fault)


def _faults(context: Context, passage: Passage) -> Iterator[Fault]:
    unquantified = quantifiers.has_none(passage.text, passage.typed)
    for look in (_directions, _extremes, _quotes, _numbers) if unquantified else _LOOKS:
        yield from look(context, passage)


def _degrees(context: Context, passage: Passage) -> Iterator[Fault]:
    """`halves`, `twice`, `slightly`, `an order of magnitude`: the ratio is of that size."""
    for degree in quantifiers.degrees(passage.text):
        if not any(_is_of_degree(context, each, degree) for each in passage.said):
            shown = "; ".join(dict.fromkeys(_shown(context, each) for each in passage.said))
            yield (
                f"`{degree.word}` stands for a factor of {degree}; {shown}",
                "choose a word that fits, or link a figure",
            )


def _is_of_degree(context: Context, said: Statement, degree: Degree) -> bool:
    if isinstance(said.claim, CitedClaim):
        return degree.word.lower() in said.claim.quote.lower() or any(map(degree.fits, _cited_ratios(said.claim)))
    ratios = _ratios(context, said)
    every = all if said.title is None and not said.target.figure else any
    return bool(ratios) and every(map(degree.fits, ratios))


def _cited_ratios(claim: CitedClaim) -> Iterator[float]:
    """What the figures of a source may mean as factors."""
    for figure in claim.figures:
        if figure.unit == "%":
            yield 1 + figure.value / 100
            yield 1 / (1 - figure.value / 100) if figure.value < 100 else 0.0  # noqa: PLR2004 - per cent
        else:
            yield figure.value
    values = [figure.value for figure in claim.figures]
    yield from (a / b for a in values for b in values if b > 0 and a > b)


def _ratios(context: Context, said: Statement) -> list[float]:
    """The improvements that the evidence shows where the link asserts them."""
    if isinstance(said.claim, ModelledClaim):
        return formulas.factors(context, said.claim)
    asserts_all = said.title is None and not said.target.figure
    return [
        point.ratio
        for standing in _standings(context, said)
        if standing.verdict
        for point in standing.verdict.points
        if point.n and (point.asserted or not asserts_all)
        if all(point.point.get(name) == value for name, value in said.target.point.items())
    ]


def _standings(context: Context, said: Statement) -> list[Standing]:
    """Where a claim stands on the classes that the link speaks of, or on all of them where it carries over."""
    assert isinstance(said.claim, MeasuredClaim)
    if said.target.hardware_class:
        return [context.board.of(said.claim, said.target.hardware_class)]
    own = [context.board.of(said.claim, name) for name in said.hardware]
    found = [standing for standing in own if standing.verdict]
    if found or not said.claim.metric.carries_over:
        return found
    return [standing for standing in context.board.standings[said.claim.id].values() if standing.verdict]


def _shown(context: Context, said: Statement) -> str:
    if isinstance(said.claim, CitedClaim):
        return f"`{said.claim.id}` quotes {', '.join(figure.as_printed for figure in said.claim.figures)}"
    ratios = _ratios(context, said)
    if not ratios:
        return f"`{said.claim.id}` {'computes no factor' if said.claim.kind == 'modelled' else 'is not measured'}"
    low, high = min(ratios), max(ratios)
    return f"`{said.claim.id}` shows {low:.2f}" + (f" to {high:.2f}" if high > low else "")


def _directions(_context: Context, passage: Passage) -> Iterator[Fault]:
    """`faster`, `less`: the claim says so too, and not the opposite."""
    for each in passage.said:
        if isinstance(each.claim, MeasuredClaim) and not each.target.figure:
            rate = each.claim.metric.kind.better == "higher"
            of_link = quantifiers.directions(each.text, rate=rate)
            of_claim = quantifiers.directions(each.claim.statement, rate=rate) if of_link else of_link
            if of_link and of_claim and not of_link & of_claim:
                message = f"the link says `{each.text}`; the claim says: {each.claim.statement}"
                yield message, "say what the claim says, or link another"


def _surely(context: Context, passage: Passage) -> Iterator[Fault]:
    """`always`, `on any GPU`: no class and no point of a claim says otherwise."""
    match = quantifiers.ALWAYS.search(passage.text)
    if match and not any(_without_exception(context, each, match[0]) for each in passage.said):
        yield f"`{match[0]}` leaves no case out; the evidence does", "say where it holds"


def _without_exception(context: Context, said: Statement, word: str) -> bool:
    if isinstance(said.claim, CitedClaim):
        return word.lower() in said.claim.quote.lower()
    if said.title == "contradicted":
        return True
    standings = context.board.standings[said.claim.id].values()
    points = [point for standing in standings if standing.verdict for point in standing.verdict.points]
    return (
        all(standing.status == "supported" for standing in standings)
        and bool(points)
        and all(point.verdict == "supported" for point in points)
    )


def _freely(context: Context, passage: Passage) -> Iterator[Fault]:
    """`for free`, `without slowing down`: a claim says that nothing is lost."""
    match = quantifiers.FREE.search(passage.text)
    if match and not any(_nothing_lost(context, each) for each in passage.said):
        remedy = "link the claim that shows it (not_worse or equal_within), or name the price"
        yield f"`{match[0]}` says that there is no price; no claim of the sentence shows that", remedy


def _nothing_lost(context: Context, said: Statement) -> bool:
    if isinstance(said.claim, CitedClaim):
        return quantifiers.NO_LOSS.search(said.claim.quote) is not None
    if isinstance(said.claim, ModelledClaim):
        return False
    supported = any(standing.status == "supported" for standing in _standings(context, said))
    return said.claim.relation != "better" and supported


def _extremes(context: Context, passage: Passage) -> Iterator[Fault]:
    """`up to` and `at least` before a figure: no other point of the sweep goes further."""
    for each in passage.said:
        for words, best, name in ((quantifiers.AT_MOST, max, "greatest"), (quantifiers.AT_LEAST, min, "smallest")):
            if each.target.figure and (match := words.search(each.before)):
                yield from _extreme(context, each, match[0].strip(), best, name)


def _extreme(
    context: Context, said: Statement, word: str, best: Callable[[list[float]], float], name: str
) -> Iterator[Fault]:
    values = _over_the_sweep(context, said)
    try:
        value = abs(measured(context.tree, context.board, said.target)[0])
    except LookupError:
        return  # the rule `figures` says so
    if len(values) <= 1:
        yield f"`{word}` stands before the only figure of `{said.claim.id}`", "say what was measured, without it"
    elif value != best(values):
        yield f"`{word}` stands before a figure that is not the {name} of the sweep", "name the point that is"


def _over_the_sweep(context: Context, said: Statement) -> list[float]:
    """The figure of a link at every point that is measured."""
    target = said.target
    standing = context.board.standings[said.claim.id].get(target.hardware_class or "")
    points = standing.verdict.points if standing and standing.verdict else ()
    targets = [ClaimTarget(target.claim, target.figure, target.hardware_class, p.point) for p in points if p.n]
    return [abs(measured(context.tree, context.board, each)[0]) for each in targets]


def _figures(_context: Context, passage: Passage) -> Iterator[Fault]:
    """Report a figure that a claim's statement types; on pages the rule `typed` does."""
    match = quantifiers.TYPED.search(passage.typed) if passage.line is None else None
    if match:
        yield f"`{match[0]}` is typed in a claim's statement", "say it without the figure; pages link the measured one"


def _quotes(_context: Context, passage: Passage) -> Iterator[Fault]:
    """What is reported of a source stands in its quote, with its reservation."""
    for each in passage.said:
        if not isinstance(each.claim, CitedClaim):
            continue
        quoted = {_value(number) for number in _NUMBER.findall(each.claim.quote.replace("x", " "))}
        quoted |= {figure.value for figure in each.claim.figures}
        for number in _NUMBER.findall(each.text):
            if _value(number) not in quoted:
                yield f"`{number}` does not stand in the quote of `{each.claim.id}`", "report what the source says"
        said_so = quantifiers.RESERVED.search(passage.text) is not None
        if _NUMBER.search(each.text) and quantifiers.RESERVED.search(each.claim.quote) and not said_so:
            yield f"the source of `{each.claim.id}` says `up to`; the sentence does not", "say it too"


def _numbers(_context: Context, passage: Passage) -> Iterator[Fault]:
    """A number in the words of a link stands in its claim: 8 sequences, 8-bit AdamW."""
    for each in passage.said:
        if isinstance(each.claim, CitedClaim) or each.target.figure:
            continue
        numbers = _COUNT.findall(each.text)
        known = set(_COUNT.findall(_record(each.claim))) if numbers else set()
        for number in numbers:
            if number not in known:
                yield f"`{number}` does not stand in the claim `{each.claim.id}`", "say what the claim says"


def _record(claim: MeasuredClaim | ModelledClaim) -> str:
    if isinstance(claim, ModelledClaim):
        return formulas.words_of(claim)
    return f"{claim.statement} {claim.subject} {claim.baseline} {claim.scope.fixed} {claim.scope.points}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _places(context: Context, passage: Passage) -> Iterator[Fault]:
    """`on an H200`, `on a GPU`: a claim of the sentence was measured there, or says that it was not."""
    for match in quantifiers.PLACE.finditer(passage.text):
        name = match["product"] or match["kind"] or match["kinds"]
        if not any(_holds_on(context, each, name.removesuffix("s")) for each in passage.said):
            remedy = "name the hardware that the evidence is of"
            yield f"`{match[0]}`: no claim of the sentence is about that hardware", remedy


def _holds_on(context: Context, said: Statement, name: str) -> bool:
    if isinstance(said.claim, CitedClaim):
        of_source = f"{said.claim.hardware_as_stated} {said.claim.quote} {said.claim.source.title}"
        return re.search(rf"\b{re.escape(name)}", of_source, re.IGNORECASE) is not None
    if isinstance(said.claim, ModelledClaim):
        return any(_is_named(context, c, name) for c in formulas.holds_on(context, said.claim))
    if said.title in ("unmeasured", "contradicted") or said.claim.metric.carries_over:
        return True
    measured_on = {c for c, standing in context.board.standings[said.claim.id].items() if standing.verdict}
    if said.target.hardware_class:
        measured_on &= {said.target.hardware_class}
    return any(_is_named(context, c, name) for c in measured_on if c in context.tree.classes)


def _is_named(context: Context, hardware_class: str, name: str) -> bool:
    """Whether a class is called so: by what it is, or by its product."""
    known = context.tree.classes[hardware_class]
    kind = {"cpu": "CPU", "cuda": "GPU"}[known.device]
    return name == kind or name in f"{known.name} {known.match.product}"


_LOOKS = (_degrees, _directions, _surely, _freely, _extremes, _figures, _quotes, _numbers, _places)
