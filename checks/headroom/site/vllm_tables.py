"""The tables of vLLM's recorded logs next to their estimates."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from headroom.io.markdown_escape import text
from headroom.memory.sizes import gib
from headroom.memory.vllm.log_errors import RecomputedLog, available_bytes, needed_of, recomputed_logs
from headroom.memory.vllm.startup import STARTS, TOO_LONG
from headroom.records import Tree
from headroom.records.vllm_logs import VllmLog, read_logs

Rows = Iterator[tuple[object, ...]]
_GIB, _NONE = 2**30, "–"
_REASONS = {
    "no-shape": "the model's shape is not recorded",
    "no-model": "the log does not name the model",
    "no-figures": "too few of the card, the flags, the memory for the KV cache and its tokens are printed",
    "pipeline": "pipeline or context parallelism, which the estimate does not model",
    "no-gpu": "neither a GPU nor an NPU",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is Markdown already."""

    markdown: str


def _source(log: VllmLog) -> Cell:
    """Return a link to the log, or the line to search for."""
    if log.url is not None:
        return Cell(f"[{text(log.locator or log.url)}]({log.url})")
    return Cell(f"search for {text(log.search or '')}")


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [abs(each) for each in values if each is not None]


def _summary(name: str, errors: Sequence[float]) -> Rows:
    if errors:
        yield name, len(errors), f"{median(errors):.2f}", f"{max(errors):.1f}"


def _errors(tree: Tree) -> Rows:
    logs = recomputed_logs(tree.root)
    parts: Mapping[str, Callable[[RecomputedLog], float | None]] = {
        "tokens, from the printed memory": lambda each: each.arithmetic_error,
        "weights, from the configuration": lambda each: each.weights_error,
        "memory for the KV cache, from card and flags, in % of the budget": lambda each: each.budget_error,
        "tokens, from card and flags": lambda each: each.flags_error,
    }
    for name, error in parts.items():
        for gpus, several in (("one GPU", False), ("several GPUs", True)):
            yield from _summary(f"{name}: {gpus}", _numbers(error(x) for x in logs if (x.log.gpus > 1) is several))


def _started(tree: Tree) -> Rows:
    for each in recomputed_logs(tree.root):
        if each.log.outcome == STARTS:
            yield (each.log.model, *_flags(each.log), *_figures(each), _source(each.log))


def _flags(log: VllmLog) -> tuple[object, ...]:
    card = log.card or (f"{log.total:g} GiB" if log.total is not None else _NONE)
    return f"{log.gpus} × {card}" if log.gpus > 1 else card, log.version or log.engine, log.utilization or _NONE


def _figures(each: RecomputedLog) -> tuple[object, ...]:
    printed = available_bytes(each.log)
    kept = each.log.kept_tokens
    return (
        _NONE if printed is None else f"{printed / _GIB:.2f}",
        _NONE if kept is None else f"{kept:,}",
        _percent(each.arithmetic_error),
        _percent(each.flags_error),
    )


def _percent(number: float | None) -> str:
    return _NONE if number is None else f"{number:+.2f}".replace("-", "−")


def _failed(tree: Tree) -> Rows:
    for each in recomputed_logs(tree.root):
        log = each.log
        if log.outcome == STARTS:
            continue
        printed = available_bytes(log)
        needed, longest = needed_of(each.name, tree.root) if log.length and printed is not None else (None, 0)
        expected = _NONE if each.estimate is None else ("fails" if each.estimate.outcome != STARTS else "starts")
        yield (
            log.model,
            f"{log.length:,}" if log.length else _NONE,
            _NONE if printed is None else f"{printed / _GIB:.2f}".replace("-", "−"),
            f"{log.needed:g}" if log.needed is not None else _NONE,
            gib(needed).removesuffix(" GiB") if needed is not None else _NONE,
            _cure(log, longest),
            expected,
            _source(log),
        )


def _cure(log: VllmLog, longest: int) -> str:
    """Return the flag that cures a failed start, computed from the printed memory."""
    if log.outcome == TOO_LONG:
        tokens = log.longest or log.kept_tokens or longest
        return f"--max-model-len {tokens}"
    return "--gpu-memory-utilization, fewer --max-num-seqs"


def _left_out(tree: Tree) -> Rows:
    for reason, names in read_logs(tree.root).left_out.items():
        yield _REASONS[reason], len(names), ", ".join(names)


VLLM_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Tree], Rows]]] = {
    "vllm-errors": (("what is compared", "logs", "median error in %", "largest in %"), _errors),
    "vllm-started": (
        (
            "model",
            "card",
            "version or engine",
            "utilization",
            "GiB for the KV cache",
            "tokens printed",
            "error from these GiB in %",
            "error from card and flags in %",
            "log",
        ),
        _started,
    ),
    "vllm-failed": (
        (
            "model",
            "--max-model-len",
            "GiB available",
            "GiB needed, printed",
            "GiB needed, computed",
            "flag that cures it",
            "estimate from card and flags",
            "log",
        ),
        _failed,
    ),
    "vllm-left-out": (("reason", "logs", "which"), _left_out),
}
