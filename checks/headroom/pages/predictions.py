"""Look up the values of predicted figures with ``headroom.memory``."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from headroom.maths.quantities import Quantity
from headroom.maths.units import human_readable
from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, configured_job, estimate_architecture
from headroom.memory.fitting import FITS, Fitting, verdict
from headroom.memory.job import Job
from headroom.memory.known_errors import KnownError, in_words, known_error
from headroom.memory.least_time import LeastTime, least_time
from headroom.memory.moments import Component, Moment
from headroom.memory.sizes import card_bytes, gib
from headroom.pages.estimate_targets import CARD, EstimateTarget, parse_estimate
from headroom.records.model_shapes import read_shape

USUAL_CARDS: Final = (8, 12, 16, 24, 32, 48, 80, 141)
"""The memory of usual cards, in GB as printed."""
LEAST_TIME: Final = "least-time"
"""The part that is the least time of an inference job on the card of the option ``card``, such as ``card=h100``."""
_SEARCHED: Final = {"largest-batch": Fitting.largest_batch, "largest-length": Fitting.largest_length}
_ALIASES: Final = {"activations": "saved activations", "logits": "logits and loss"}
_Found = TypeVar("_Found")
_MOST: Final = 72
"""The characters of a component's formula that are shown."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted figure."""

    quantity: Quantity
    explained: str
    """Its components with their formulas, and the known error."""
    card: str
    """The smallest usual card above the upper end of the estimate, such as ``24 GB``; empty if none."""
    is_time: bool = False
    """Whether it is the least time of a step, not a size."""


class Predictions:
    """The predicted figures of one tree; each estimate is made once.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._architectures: dict[str, Architecture] = {}
        self._found: dict[str, Prediction] = {}
        self._cards: dict[int, int] = {}

    def of(self, href: str) -> Prediction:
        """Return the figure of an ``estimate:`` address.

        Raises:
            LookupError, ValueError: it names no part of an estimate, or the estimate cannot be made.
        """
        if href not in self._found:
            target = parse_estimate(href)
            found = self._made(target)
            if target.part == LEAST_TIME:
                self._found[href] = found
                return found
            known = in_words(known_error(_job(target), self._root))
            self._found[href] = replace(found, explained=f"{found.explained}. Known error of the peak: {known}")
        return self._found[href]

    def _made(self, target: EstimateTarget) -> Prediction:
        if target.model not in self._architectures:
            shape = read_shape(target.model, self._root)  # a page names no path
            self._architectures[target.model] = read_architecture(dict(shape.config), self._root)
        architecture = self._architectures[target.model]
        job = _job(target)
        if target.part == LEAST_TIME:
            if not (card := dict(target.options).get(CARD)):
                raise EstimateError(CARD, f"is missing for {target.part}", "add `card=h100` to the options")
            return _of_time(least_time(architecture, job, str(card), self._root))
        if target.part in _SEARCHED:
            return self._largest(Fitting(architecture, job, self._card(target), self._root), target.part)
        found = estimate_architecture(architecture, job, self._root)
        card = self._smallest_card(found)
        if target.part == CARD:
            return _of_card(found, card)
        return Prediction(*_part(found, target.part), card=f"{card} GB" if card else "")

    def _card(self, target: EstimateTarget) -> int:
        """Return the memory of the address's card."""
        if not (text := dict(target.options).get(CARD)):
            raise EstimateError(CARD, f"is missing for {target.part}", "add `card=24GB` to the options")
        return card_bytes(str(text), self._root)

    @staticmethod
    def _largest(fitting: Fitting, part: str) -> Prediction:
        """Return the largest batch or length whose estimate has its upper end below the card's memory."""
        explained = f"Predicted: the {part.replace('-', ' ')} with which the job fits in {gib(fitting.card)}"
        return Prediction(Quantity.of(_SEARCHED[part](fitting)), explained, "")

    def _smallest_card(self, found: Estimate) -> int:
        """Return the smallest usual card in GB above the upper end of the estimate; 0 if none."""
        for size in USUAL_CARDS:
            if size not in self._cards:
                self._cards[size] = card_bytes(f"{size}GB", self._root)
        return next((size for size in USUAL_CARDS if verdict(found.needed, self._cards[size]) == FITS), 0)


def known_error_of(href: str, root: Path) -> KnownError | None:
    """Return the known error of the job of an ``estimate:`` address.

    Raises:
        LookupError, ValueError: it names no job.
    """
    return known_error(_job(parse_estimate(href)), root)


def _job(target: EstimateTarget) -> Job:
    return configured_job(target.job, {name: value for name, value in target.options if name != CARD})


def _of_card(found: Estimate, card: int) -> Prediction:
    if not card:
        raise LookupError(f"the job takes up to {gib(found.needed[1])}, and fits on no usual card; name none")
    explained = f"Predicted: the process takes {gib(found.needed[0])} to {gib(found.needed[1])}"
    return Prediction(Quantity.of(card, "GB"), explained, f"{card} GB")


def _of_time(time: LeastTime) -> Prediction:
    """Return the least time, with the bytes and the FLOPs that it follows from."""
    cache = f" + KV cache {time.cache / 1e9:.3g} GB" if time.cache else ""
    reads = f"(weights {time.weights / 1e9:.4g} GB{cache}) / {time.bandwidth / 1e9:,.0f} GB/s"
    computes = f", {time.flops / 1e12:.3g} TFLOP / {time.rate / 1e12:,.0f} TFLOPS" if time.rate else ""
    used = f"; the tokens use {time.experts:.0%} of the experts on average" if time.experts else ""
    explained = f"At least the larger of {reads}{computes}{used}. Printed rates: a lower bound, no prediction"
    if not time.rate:
        explained = f"At least {reads}{used}. Printed bandwidth: a lower bound, no prediction"
    return Prediction(Quantity.of(time.seconds, "s"), explained, "", is_time=True)


def _part(found: Estimate, part: str) -> tuple[Quantity, str]:
    """Return a part's bytes, and its components in words."""
    kind, _, name = part.partition(":")
    if kind == "phase":
        phase, _, component = name.partition(":")
        moment = _named(phase, {_slug(each.phase): each for each in found.phases}, "phase")
        return _of_component(found, (moment,), component) if component else _whole(found, moment)
    return _of_component(found, found.phases, part) if part else _whole(found, found.peak_phase)


def _whole(found: Estimate, moment: Moment) -> tuple[Quantity, str]:
    """Return all that is allocated at a moment."""
    parts = " + ".join(_explained(each) for each in moment.components)
    peak = "Predicted peak" if moment is found.peak_phase else "Predicted"
    return Quantity.of(moment.bytes, "B"), f"{peak}, {moment.phase}: {parts} = {human_readable(moment.bytes, 'B')}"


def _of_component(found: Estimate, moments: tuple[Moment, ...], part: str) -> tuple[Quantity, str]:
    """Return a component at the moment at which it is largest."""
    known = {_slug(part.name): part for each in found.phases for part in each.components}
    wanted = _slug(_ALIASES.get(part, part))
    _named(wanted, known, "part")
    sizes = [(each, moment) for moment in moments for each in moment.components if _slug(each.name) == wanted]
    if not sizes:
        absent = f"Predicted, {moments[0].phase}: no {known[wanted].name}"
        return Quantity.of(0, "B"), absent
    component, moment = max(sizes, key=lambda pair: pair[0].bytes)
    return Quantity.of(component.bytes, "B"), f"Predicted, {moment.phase}: {_explained(component)}"


def _named(name: str, known: Mapping[str, _Found], what: str) -> _Found:
    """Return the phase or the component of a name.

    Raises:
        LookupError: there is none.
    """
    if name not in known:
        raise LookupError(f"there is no {what} `{name}`; use one of {', '.join(sorted(known))}")
    return known[name]


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def _explained(component: Component) -> str:
    """Return a component with its formula: ``weights 15.0 GiB (2 B per parameter)``."""
    formula = component.formula if len(component.formula) <= _MOST else f"{component.formula[:_MOST]}…"
    return f"{component.name} {human_readable(component.bytes, 'B')} ({formula})"
