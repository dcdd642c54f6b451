"""The tables of the errors of memory estimates: lines ``[](memory-errors:NAME)`` of a page."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from headroom.io.markdown_escape import text
from headroom.memory.calculators import CALCULATORS
from headroom.memory.error_samples import (
    PARTS,
    calculator_errors,
    error_of,
    judged_steps_of,
    kind_of,
    measured_steps_of,
    published_steps_of,
    traced_errors,
    traced_steps_of,
    unallocated_shares,
)
from headroom.memory.estimate import estimate
from headroom.memory.fitting import DOES_NOT_FIT, FITS, WITHIN_ERROR, verdict
from headroom.memory.fixed_costs import COVERED, beside_tensors
from headroom.memory.known_errors import percent
from headroom.memory.percentiles import percentile
from headroom.memory.sizes import card_bytes
from headroom.memory.validation import OURS, summaries
from headroom.records import Tree
from headroom.records.memory_errors import JudgedStep, PublishedStep
from headroom.site.site_data import SiteData
from headroom.site.vllm_tables import VLLM_TABLES, Cell

SCHEME = "memory-errors:"
_LINE = re.compile(rf"^( *)\[\]\({SCHEME}([a-z-]+)\)$")
_GIB, _NEAR = 2**30, 0.2
_VERDICTS = (FITS, WITHIN_ERROR, DOES_NOT_FIT)
Rows = Iterator[tuple[object, ...]]


def with_tables(lines: Sequence[str], site: SiteData) -> list[str]:
    """Replace each line ``[](memory-errors:NAME)`` with its table, indented like the line.

    Raises:
        LookupError: there is no table of this name.
    """
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += [f"{match[1]}{each}" for each in _table(match[2], site.tree)] if match else [line]
    return found


def _table(name: str, tree: Tree) -> list[str]:
    if name not in _TABLES:
        raise LookupError(f"there is no table `{SCHEME}{name}`; known are {', '.join(_TABLES)}")
    head, rows = _TABLES[name]
    body = list(rows(tree))
    if not body:
        return ["None."]
    cells = [[_cell(each) for each in row] for row in (head, *body)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]


def _cell(value: object) -> str:
    if isinstance(value, Cell):
        return value.markdown
    return f"{value:.1f}" if isinstance(value, float) else text(str(value))


def _signed(number: float) -> str:
    return f"{number:+.1f}".replace("-", "−")


def _summary(errors: Sequence[float]) -> tuple[object, ...]:
    sizes = [abs(each) for each in errors]
    return len(errors), median(sizes), percentile(sizes, 0.95), _signed(min(errors)), _signed(max(errors))


def _grouped(steps: Iterable[PublishedStep], key: Callable[[PublishedStep], str]) -> Mapping[str, list[float]]:
    groups: dict[str, list[float]] = defaultdict(list)
    for each in steps:
        groups[key(each)].append(error_of(each))
    return groups


def _sources(tree: Tree) -> Rows:
    groups = _grouped(published_steps_of(tree), lambda each: each.table)
    for name, errors in groups.items():
        yield (tree.published.memory[name].source.title, *_summary(errors))
    if groups:
        middle = median(median(map(abs, each)) for each in groups.values())
        yield ("median over the sources", sum(map(len, groups.values())), middle, "–", "–", "–")


def _kinds(tree: Tree) -> Rows:
    groups = _grouped(published_steps_of(tree), kind_of)
    for name, errors in sorted(groups.items()):
        yield (name, *_summary(errors))


def _rows(tree: Tree) -> Rows:
    for each in published_steps_of(tree):
        row = (each.table, each.row, each.counts, each.measured / _GIB, each.estimated / _GIB)
        yield (*row, _signed(error_of(each)), each.process / _GIB if each.process else "–")


def _explained(tree: Tree) -> Rows:
    words = {(name, row.id): row.deviation for name, table in tree.published.memory.items() for row in table.rows}
    for each in published_steps_of(tree):
        if deviation := words.get((each.table, each.row)):
            yield each.row, _signed(error_of(each)), deviation


def _excluded(tree: Tree) -> Rows:
    for name, table in tree.published.memory.items():
        reasons = Counter(str(row.reason) for row in table.rows if not row.usable)
        yield from ((name, count, reason) for reason, count in reasons.most_common())


def _calculators(tree: Tree) -> Rows:
    for each in summaries(calculator_errors(tree)):
        title = "Headroom" if each.calculator == OURS else CALCULATORS[each.calculator].title
        if each.median_percent is None or each.lowest_percent is None or each.highest_percent is None:
            yield title, 0, "models none of these jobs", "–", "–"
        else:
            low, high = _signed(each.lowest_percent), _signed(each.highest_percent)
            yield title, each.modelled, each.median_percent, low, high


def _closer(tree: Tree) -> Rows:
    """Yield the rows on which a calculator is closer than the estimate."""
    errors: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for each in calculator_errors(tree):
        if each.percent is not None:
            errors[each.table, each.row][each.calculator] = each.percent
    for (_, row), found in errors.items():
        best = min(found, key=lambda name: abs(found[name]))
        if best != OURS:
            yield row, _signed(found[OURS]), CALCULATORS[best].title, _signed(found[best])


def _reserved(tree: Tree) -> Rows:
    """Yield what processes took beyond their allocated bytes, as shares of them."""
    published = unallocated_shares(tree)
    for alone, gpus in ((True, "one GPU"), (False, "several GPUs")):
        errors = beside_tensors(1 if alone else 2, tree.root)
        yield (f"out-of-memory errors, {gpus}: reserved and not allocated", *_shares(errors.unallocated))
        if published[alone]:
            yield (f"published runs, {gpus}: the whole process", *_shares(published[alone]))


def _shares(shares: Sequence[float]) -> tuple[object, ...]:
    return len(shares), *(f"{100 * each:.0f}" for each in (median(shares), percentile(shares, COVERED), max(shares)))


def _near(tree: Tree) -> Iterator[tuple[JudgedStep, int]]:
    """Yield the jobs with a known outcome whose estimated memory is within 20 % of the card's, with that."""
    for each in judged_steps_of(tree):
        card = card_bytes(each.card, tree.root)
        if abs(each.low / card - 1) <= _NEAR:
            yield each, card


def _outcomes(tree: Tree) -> Rows:
    """Yield the verdicts on jobs that ran and on jobs that ran out of memory, of all cards and near the card's."""
    near = list(_near(tree))
    whole = [(each, card_bytes(each.card, tree.root)) for each in judged_steps_of(tree)]
    for outcome, words in (("ran", "ran"), ("out-of-memory", "out of memory")):
        for title, jobs in (("within a fifth of the card", near), ("all", whole)):
            counts = Counter(verdict((s.low, s.high), card) for s, card in jobs if s.outcome == outcome)
            yield (words, title, *(counts[each] for each in _VERDICTS))


def _outcome_rows(tree: Tree) -> Rows:
    for each, card in _near(tree):
        needed = f"{each.low / _GIB:.1f} to {each.high / _GIB:.1f}"
        words = verdict((each.low, each.high), card)
        yield each.row, tree.cards.cards[each.card].names[0], needed, words, each.outcome.replace("-", " ")


def _fits(tree: Tree) -> Rows:
    """Yield the verdicts for the recorded cards whose memory is within 20 % of what a process took."""
    counts: Counter[tuple[bool, str]] = Counter()
    steps = published_steps_of(tree)
    cards = [card_bytes(name, tree.root) for name in tree.cards.cards] if steps else []
    for each in steps:
        for card in cards:
            if each.process and abs(each.process / card - 1) <= _NEAR:
                counts[each.process <= card, verdict((each.low, each.high), card)] += 1
    for truth in (True, False):
        yield ("at most the card's" if truth else "more than the card's", *(counts[truth, word] for word in _VERDICTS))


def _traced(tree: Tree) -> Rows:
    for name, errors in traced_errors(tree).items():
        sizes = [abs(each) for each in errors]
        yield PARTS[name], len(sizes), f"{median(sizes):.3f}", f"{percentile(sizes, 0.95):.2f}", f"{max(sizes):.2f}"


def _families(tree: Tree) -> Rows:
    steps = traced_steps_of(tree)
    for family in sorted({each.family for each in steps}):
        errors = [abs(percent(s.estimated["peak"], s.traced["peak"])) for s in steps if s.family == family]
        models = sorted({each.model for each in steps if each.family == family})
        yield family, ", ".join(models), len(errors), f"{median(errors):.3f}", f"{max(errors):.2f}"


def _measured(tree: Tree) -> Rows:
    for each in measured_steps_of(tree):
        job = ", ".join(f"{name} {value}" for name, value in each.job.items())
        size = each.measured / 2**20
        others = ", ".join(f"{size / 2**20:,.0f}" for size in (each.reserved, each.process) if size is not None)
        yield each.model, job, each.device, f"{size:,.0f}", others or "–", f"{percent(each.traced, each.measured):+.3f}"


def _gpu(tree: Tree) -> Rows:
    """Yield the steps that a lent GPU measured, and today's estimate of each."""
    for record in tree.memory_errors.values():
        for each in record.measured if record.hardware_class else ():
            options = dict(each.job)
            found = estimate(each.model, job=str(options.pop("job", "full")), root=tree.root, **options)
            low, high = (size / _GIB for size in found.needed)
            error = _signed(percent(found.peak, each.measured))
            job = ", ".join(f"{name} {value}" for name, value in each.job.items())
            compared = (f"{found.peak / _GIB:.2f}", f"{each.measured / _GIB:.2f}", error, f"{low:.1f} to {high:.1f}")
            sizes = (size / _GIB if size else "–" for size in (each.reserved, each.process))
            yield tree.classes[str(record.hardware_class)].short, each.model, job, *compared, *sizes


_ERRORS = ("figures", "median error in %", "95th percentile in %", "lowest in %", "highest in %")
_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Tree], Rows]]] = {
    "sources": (("source", *_ERRORS), _sources),
    "kinds": (("job", *_ERRORS), _kinds),
    "rows": (("source", "row", "counts", "measured GiB", "estimated GiB", "error in %", "process GiB"), _rows),
    "explained": (("row", "error in %", "what the estimate does not model"), _explained),
    "excluded": (("source", "rows", "reason"), _excluded),
    "calculators": (("calculator", "figures", "median error in %", "lowest in %", "highest in %"), _calculators),
    "closer": (("row", "Headroom in %", "closer calculator", "its error in %"), _closer),
    "reserved": (
        ("beyond the allocated, in % of it", "figures", "median", "nine in ten", "highest"),
        _reserved,
    ),
    "outcomes": (("the job", "estimated memory", *_VERDICTS), _outcomes),
    "outcome-rows": (("row", "card", "estimated GiB of the process", "verdict", "outcome"), _outcome_rows),
    "fits": (("the process's memory", *_VERDICTS), _fits),
    "traced": (("part", "steps", "median error in %", "95th percentile in %", "largest in %"), _traced),
    "families": (("architecture", "models", "steps", "median error of the peak in %", "largest in %"), _families),
    "measured": (
        ("model", "job", "device", "allocated MiB", "reserved, process MiB", "error of the trace in %"),
        _measured,
    ),
    "gpu": (
        (
            *("GPU", "model", "job", "estimated GiB", "allocated GiB", "error in %"),
            *("estimated for the process, GiB", "reserved GiB", "process GiB"),
        ),
        _gpu,
    ),
    **VLLM_TABLES,
}
