"""Recompute the recorded logs of vLLM: what the estimate says of each, and by how much it is wrong.

Two errors are kept apart. The first starts from the printed memory for the KV cache, and is arithmetic. The second
starts from the card and the flags alone, with constants that are fitted to all other logs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.sizes import card_bytes
from headroom.memory.vllm.fitted_costs import (
    Batch,
    CostSample,
    FittedCosts,
    fitted,
    forward_bytes,
    logits_of,
    older_batch,
)
from headroom.memory.vllm.gpu_weights import gpu_weight_bytes
from headroom.memory.vllm.kv_blocks import KvLayout, kv_layout
from headroom.memory.vllm.settings import EngineSettings, batch_defaults
from headroom.memory.vllm.startup import VllmEstimate, estimate_start, in_flight
from headroom.records.vllm_logs import PATH, VllmLog, read_logs

_GIB, _ROUNDING = 2**30, 0.005
_OLD_UTILIZATION = 0.9
"""The default of ``gpu_memory_utilization`` in the versions of the recorded logs."""


@dataclass(frozen=True, slots=True)
class RecomputedLog:
    """A log next to its estimates.

    Attributes:
        name: its id.
        log: the recorded figures.
        tokens: the tokens of KV cache from the printed memory, with its rounding: fewest, nearest and most.
        estimated_weights: the bytes of the weights on one GPU; None if their format is not named.
        estimate: the start from the card and the flags, fitted without this log; None if they are not all known.
    """

    name: str
    log: VllmLog
    tokens: tuple[int, int, int] | None
    estimated_weights: int | None
    estimate: VllmEstimate | None

    @property
    def arithmetic_error(self) -> float | None:
        """Return by how many percent the tokens from the printed memory are too high."""
        kept = self.log.kept_tokens
        return 100 * (self.tokens[1] / kept - 1) if self.tokens and kept else None

    @property
    def within_rounding(self) -> bool | None:
        """Return whether the printed tokens are among those that the rounded memory allows."""
        kept = self.log.kept_tokens
        return None if self.tokens is None or not kept else self.tokens[0] <= kept <= self.tokens[2]

    @property
    def flags_error(self) -> float | None:
        """Return by how many percent the tokens from the card and the flags are too high."""
        kept = self.log.kept_tokens
        if self.estimate is None or not kept:
            return None
        tokens = self.estimate.kv.tokens_of_blocks(self.estimate.kv.blocks(self.estimate.available))
        return 100 * (tokens / kept - 1)

    @property
    def weights_error(self) -> float | None:
        """Return by how many percent the estimated weights are too high; None if the log does not print them."""
        if self.estimated_weights is None or not self.log.weights:
            return None
        return 100 * (self.estimated_weights / (self.log.weights * _GIB) - 1)

    @property
    def budget_error(self) -> float | None:
        """Return by how many percent of the budget the memory for the KV cache is too high."""
        if self.estimate is None or (printed := available_bytes(self.log)) is None:
            return None
        return 100 * (self.estimate.available - printed) / self.estimate.budget


def available_bytes(log: VllmLog) -> float | None:
    """Return the printed memory for the KV cache, or what the printed blocks take."""
    if log.available_bytes is not None:
        return log.available_bytes
    return None if log.available is None else log.available * _GIB


def recomputed_logs(root: Path) -> tuple[RecomputedLog, ...]:
    """Return every recorded log with its estimates.

    Raises:
        EstimateError: the facts cannot be read.
    """
    return _recomputed(root, _stamp(root))


def all_costs(root: Path) -> FittedCosts:
    """Return the constants fitted to all recorded logs."""
    return _all_costs(root, _stamp(root))


def _stamp(root: Path) -> int:
    """Return when the file of the logs changed."""
    try:
        return (root / PATH).stat().st_mtime_ns
    except OSError as error:
        raise EstimateError(PATH, "cannot be read", "restore the file") from error


@lru_cache(maxsize=2)
def _starts(root: Path, stamp: int) -> Mapping[str, "_Start"]:
    del stamp
    try:
        logs = read_logs(root).logs
    except ValueError as error:
        raise EstimateError(PATH, f"is no list of logs: {error}", "restore the file") from error
    return {name: _start(log, root) for name, log in logs.items()}


@lru_cache(maxsize=2)
def _all_costs(root: Path, stamp: int) -> FittedCosts:
    starts = _starts(root, stamp)
    return fitted(list(_samples(starts).values()), _graphs(starts))


@lru_cache(maxsize=2)
def _recomputed(root: Path, stamp: int) -> tuple[RecomputedLog, ...]:
    starts = _starts(root, stamp)
    samples = _samples(starts)
    return tuple(_one(name, start, samples) for name, start in starts.items())


@dataclass(frozen=True, slots=True)
class _Start:
    log: VllmLog
    architecture: Architecture
    settings: EngineSettings
    kv: KvLayout
    card: int | None


def _start(log: VllmLog, root: Path) -> _Start:
    architecture = read_architecture(log.shape, root)
    card = _card(log, root)
    length = log.length or architecture.config.get("max_position_embeddings")
    sequences, batched = _batch(log, card, length)
    settings = EngineSettings(
        tensor=log.gpus,
        max_model_len=length,
        gpu_memory_utilization=log.utilization or _OLD_UTILIZATION,
        cache="fp32" if log.dtype == "float32" else "bf16",
        quantization=log.quantization,
        max_num_seqs=sequences,
        max_num_batched_tokens=batched,
        enforce_eager=log.eager,
        block=log.block,
        engine=log.engine,
        dtype_bytes=4 if log.dtype == "float32" else 2,
        aligned=log.aligned,
        reserve_graphs=False,
    )
    return _Start(log, architecture, settings, kv_layout(architecture, settings), card)


def _card(log: VllmLog, root: Path) -> int | None:
    """Return the card's memory: as printed, from the printed budget, or of the recorded card."""
    if log.budget is not None and log.utilization is not None:
        return int(log.budget / log.utilization * _GIB)
    if log.total is not None:
        return int(log.total * _GIB)
    try:
        return card_bytes(log.card, root) if log.card else None
    except EstimateError:
        return None


def _batch(log: VllmLog, card: int | None, length: int | None) -> tuple[int, int]:
    if log.engine == "v0":
        return log.sequences or 256, log.batched or older_batch(length or 2048)
    sequences, tokens = batch_defaults(card or 0, a100="A100" in (log.card or ""))
    return log.sequences or sequences, log.batched or tokens


def _samples(starts: Mapping[str, _Start]) -> dict[str, CostSample]:
    """Return what each log took besides weights and KV cache, where its budget is known."""
    return {name: sample for name, each in starts.items() if (sample := _sample(name, each)) is not None}


def _graphs(starts: Mapping[str, _Start]) -> list[float]:
    return [each.log.graphs * _GIB for each in starts.values() if each.log.graphs is not None]


def _sample(name: str, start: _Start) -> CostSample | None:
    log, settings, available = start.log, start.settings, available_bytes(start.log)
    if log.kv_only or start.card is None or available is None or log.available is None:
        return None
    batch = Batch(int(settings.max_num_seqs or 0), int(settings.max_num_batched_tokens or 0))
    weights = gpu_weight_bytes(start.architecture, settings) if log.weights is None else log.weights * _GIB
    return CostSample(
        name=name,
        engine=settings.engine,
        several=log.gpus > 1,
        other=start.card * settings.gpu_memory_utilization - available - weights,
        forward=forward_bytes(start.architecture, settings, batch.tokens),
        logits=logits_of(start.architecture, settings, batch),
    )


def _one(name: str, start: _Start, samples: Mapping[str, CostSample]) -> RecomputedLog:
    known = start.card is not None and start.settings.max_model_len is not None and not start.log.kv_only
    estimate = None
    if known and start.card is not None:
        costs = fitted([each for key, each in samples.items() if key != name], ())
        estimate = estimate_start(start.architecture, start.settings, start.card, costs)
    weights = None if start.log.kv_only else gpu_weight_bytes(start.architecture, start.settings)
    return RecomputedLog(name, start.log, _tokens(start), weights, estimate)


def _tokens(start: _Start) -> tuple[int, int, int] | None:
    """Return the fewest, the nearest and the most tokens that the printed memory allows."""
    exact = start.log.available_bytes is not None
    if (available := available_bytes(start.log)) is None or available <= 0:
        return None
    slack = 0 if exact else _ROUNDING * _GIB
    low, near, high = (start.kv.tokens_of_blocks(start.kv.blocks(int(available + each))) for each in (-slack, 0, slack))
    return low, near, high


def needed_of(name: str, root: Path) -> tuple[int, int]:
    """Return the bytes of one request of a log's full length, and the longest request in its printed memory."""
    start = _starts(root, _stamp(root))[name]
    length, ahead = int(start.settings.max_model_len or 0), in_flight(start.settings)
    available = int(available_bytes(start.log) or 0)
    return start.kv.needed(length, ahead), start.kv.longest(available, length, ahead)
