"""The tables of planned layouts and of the errors of step times: lines ``[](plan:NAME)`` of a page."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import median

from headroom.io.markdown_escape import text
from headroom.planner.errors import (
    COVERED,
    RunError,
    division,
    held,
    in_percent,
    interval_of,
    is_experts,
    run_pairs,
    threshold_between,
    threshold_of,
)
from headroom.planner.layout_names import layout_name
from headroom.planner.plan import Plan, plan
from headroom.planner.published_runs import Run
from headroom.planner.recorded import constants_of, errors_of, runs_of
from headroom.planner.step_time import CONSTANTS, Constants
from headroom.records import Tree
from headroom.site.site_data import SiteData

SCHEME = "plan:"
_LINE = re.compile(rf"^( *)\[\]\({SCHEME}([a-z0-9-]+)\)$")
_SHOWN = 7
Rows = Iterator[tuple[object, ...]]
_EXAMPLES: Mapping[str, Mapping[str, object]] = {
    "8b-on-8": {"model": "llama-3.1-8b", "gpus": 8, "batch": 64, "length": 8192},
    "8b-on-64": {"model": "llama-3.1-8b", "gpus": 64, "batch": 512, "length": 8192},
    "70b-on-64": {"model": "llama-3.1-70b", "gpus": 64, "batch": 512, "length": 8192},
}
"""The plans that a page shows, all on H100."""
_MEANINGS = {
    "matmul": "part of the best measured matmul rate that a layer's matmuls reach",
    "attention": "part of the bf16 rate that the matmuls of causal attention reach",
    "eager": "tensors of hidden size that a layer's forward pass moves per token, eager kernels",
    "fused": "the same, torch.compile or fused kernels",
    "link": "part of a link's bandwidth that a collective reaches (measured, not fitted)",
    "overlap": "part of the communication of data and context parallelism that compute hides",
    "tensor_overlap": "the same for tensor parallelism, where an option overlaps it",
    "straggling": "part by which a step is longer per doubling of the nodes",
}


def with_tables(lines: Sequence[str], site: SiteData) -> list[str]:
    """Replace each line ``[](plan:NAME)`` with its table, indented like the line.

    Raises:
        LookupError: there is no table of this name.
    """
    found: list[str] = []
    for line in lines:
        match = _LINE.match(line)
        found += [f"{match[1]}{each}" for each in _table(match[2], site.tree)] if match else [line]
    return found


def _table(name: str, tree: Tree) -> list[str]:
    if name in _EXAMPLES:
        return _lines(_EXAMPLE_HEAD, _example(name, tree.root))
    if name not in _TABLES:
        known = ", ".join((*_TABLES, *_EXAMPLES))
        raise LookupError(f"there is no table `{SCHEME}{name}`; known are {known}")
    head, rows = _TABLES[name]
    return _lines(head, rows(tree))


def _lines(head: Sequence[str], rows: Rows) -> list[str]:
    body = [[text(str(each)) for each in row] for row in rows]
    if not body:
        return ["None."]
    lines = [f"| {' | '.join(row)} |" for row in ([*head], *body)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]]


_EXAMPLE_HEAD = (
    "layout",
    "micro-batch × accumulation",
    "checkpointing",
    "s/step",
    "four fifths of such runs",
    "GiB",
    "against the fastest",
)


def _example(name: str, root: Path) -> Rows:
    found = _planned(name, root)
    for each in found.layouts[:_SHOWN]:
        low, high = (f"{size / 2**30:.0f}" for size in each.needed)
        between = found.interval(each) or (0.0, 0.0)
        yield (
            each.name,
            f"{each.work.batch} × {each.work.accumulation}",
            "full" if each.work.recompute else "none",
            f"{each.time.seconds:.1f}",
            f"{between[0]:.1f} to {between[1]:.1f}",
            f"{low} to {high}",
            "slower" if each.slower else "cannot tell",
        )


@lru_cache(maxsize=8)
def _planned(name: str, root: Path) -> Plan:
    options = dict(_EXAMPLES[name])
    return plan(options.pop("model"), card="H100", loss="chunked", sure=True, root=root, **options)  # type: ignore[arg-type]


def _signed(number: float) -> str:
    return f"{number:+.1f}".replace("-", "−")


def _kind(run: Run) -> str:
    return "experts" if is_experts(run) else "dense"


def _grouped(tree: Tree, key: Callable[[Run], tuple[str, ...]]) -> Mapping[tuple[str, ...], list[RunError]]:
    groups: dict[tuple[str, ...], list[RunError]] = defaultdict(list)
    for each in errors_of(tree):
        groups[key(each.run)].append(each)
    return groups


def _middles(errors: Sequence[RunError]) -> tuple[object, ...]:
    names = ("model", "baseline", "formats")
    middles = (f"{median(abs(getattr(each, name)) for each in errors):.1f}" for name in names)
    ours = [each.model for each in errors]
    return len(errors), *middles, _signed(min(ours)), _signed(max(ours))


def _summary(tree: Tree) -> Rows:
    groups = _grouped(tree, lambda run: (_kind(run), run.row.use))
    for kind in ("dense", "experts"):
        for use in ("fitted", "seen", "blind"):
            if found := groups.get((kind, use)):
                yield (f"{kind}, {use}", *_middles(found))
    single = [each for each in errors_of(tree) if each.run.row.gpus == 1]
    if single:
        yield ("dense, on one GPU (blind)", *_middles(single))


def _sources(tree: Tree) -> Rows:
    titles = {each.id: each for each in tree.published.training.values()}
    for (name, _), found in sorted(_grouped(tree, lambda run: (run.table.id, "")).items()):
        uses = ", ".join(sorted({each.run.row.use for each in found}))
        yield (titles[name].source.title, titles[name].cluster.accelerator, uses, *_middles(found))


def _rows(tree: Tree) -> Rows:
    constants = _constants(tree)
    for each in errors_of(tree):
        run = each.run
        rate = run.predicted(constants).rate if constants else 0.0
        speeds = f"{run.row.tokens_per_second:,.0f}", f"{rate:,.0f}"
        yield (
            run.table.id,
            run.row.id,
            run.row.gpus,
            layout_name(run.layout),
            *speeds,
            _signed(each.model),
            _signed(each.baseline),
            run.row.use,
        )


def _constants(tree: Tree) -> Constants | None:
    return constants_of(tree.step_time) if tree.step_time else None


def _pairs(tree: Tree) -> Rows:
    constants = _constants(tree)
    if constants is None:
        return
    runs = runs_of(tree)
    every = list(run_pairs(runs, constants))
    for experts, kind in ((False, "dense"), (True, "experts")):
        asked = [pair for pair in every if pair.differs and is_experts(pair.first) is experts]
        same = threshold_of(every, experts=experts)
        other = threshold_between([run for run in runs if is_experts(run) is experts], constants)
        if not asked or same is None or other is None:
            continue
        limits = [same if division(pair.first.layout) == division(pair.second.layout) else other for pair in asked]
        for words, factor in (("the planner's answers", 1.0), ("if it always had to answer", 0.0)):
            orders = [pair.order(factor * limit) for pair, limit in zip(asked, limits, strict=True)]
            counts = (orders.count(answer) for answer in (True, False, None))
            yield f"{kind}: {words}", len(asked), *counts


def _certainty(tree: Tree) -> Rows:
    constants = _constants(tree)
    if constants is None:
        return
    runs = runs_of(tree)
    every = list(run_pairs(runs, constants))
    for experts, kind in ((False, "dense"), (True, "experts")):
        own = [run for run in runs if is_experts(run) is experts]
        asked = [run for run in own if run.row.use != "fitted"]
        single = [run for run in asked if run.row.gpus == 1]
        interval, same = interval_of(own, constants), threshold_of(every, experts=experts)
        other = threshold_between(own, constants)
        if interval is None or same is None or other is None:
            continue
        one = f"{held(own, constants, single)} of {len(single)}" if single else "no run"
        factors = f"{interval[0]:.2f} to {interval[1]:.2f} × predicted"
        inside = f"{held(own, constants, asked)} of {len(asked)}"
        yield kind, factors, inside, one, f"{in_percent(same):.1f}", f"{in_percent(other):.1f}"


def _fitted(tree: Tree) -> Rows:
    constants = _constants(tree)
    for name in CONSTANTS if constants else ():
        yield _MEANINGS[name], f"{getattr(constants, name):.3g}"


_ERRORS = (
    "runs",
    "median error in %",
    "same utilization in %",
    "same utilization per format in %",
    "lowest in %",
    "highest in %",
)
_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Tree], Rows]]] = {
    "summary": (("runs of", *_ERRORS), _summary),
    "sources": (("source", "GPU", "use", *_ERRORS), _sources),
    "rows": (
        (
            "source",
            "run",
            "GPUs",
            "layout",
            "published tokens/s/GPU",
            "predicted",
            "error of the step time in %",
            "same utilization in %",
            "use",
        ),
        _rows,
    ),
    "pairs": (("pairs", "differ by over 5 %", "right", "wrong", "cannot tell"), _pairs),
    "certainty": (
        (
            "models",
            f"interval that covers {COVERED:.0%}",
            "in the interval of the other sources",
            "of them on one GPU",
            "error of a ratio, model divided alike, in %",
            "divided differently, in %",
        ),
        _certainty,
    ),
    "constants": (("constant", "value"), _fitted),
}
