"""The text and the JSON of ``headroom estimate --engine vllm``."""

import argparse
import json
from pathlib import Path
from statistics import median

from headroom.cli.estimate_options import FIELDS as JOB_FIELDS
from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError, one_of
from headroom.memory.sizes import card_memory, gib
from headroom.memory.vllm.fitted_costs import FittedCosts
from headroom.memory.vllm.log_errors import RecomputedLog, all_costs, recomputed_logs
from headroom.memory.vllm.settings import FIELDS, EngineSettings
from headroom.memory.vllm.startup import NO_MEMORY, STARTS, VllmEstimate, estimate_start, filled, remedies

_TESTED = "vLLM 0.33"


def vllm_report(root: Path, options: argparse.Namespace) -> str:
    """Return what vLLM is expected to report when it starts, as text or as JSON.

    Raises:
        EstimateError: an option is wrong, missing, or has no meaning for an engine.
    """
    one_of("engine", options.engine, ("vllm",))
    if options.card is None:
        raise EstimateError("card", "is not given", "give --card with a size such as 24GB or a name such as RTX 4090")
    foreign = [name for name in JOB_FIELDS if name not in FIELDS and getattr(options, name) is not None]
    if foreign:
        raise EstimateError(foreign[0], "is set with --engine", "leave it out; it is an option of a job")
    flags = {name: value for name in FIELDS if (value := getattr(options, name, None)) is not None}
    memory, architecture = card_memory(options.card, root), read_architecture(options.model, root)
    settings = filled(architecture, EngineSettings(**flags), memory.usable, a100="a100" in options.card.lower())
    costs = all_costs(root)
    found = estimate_start(architecture, settings, memory.usable, costs)
    cures = remedies(architecture, found, costs) if found.outcome != STARTS else []
    logs = recomputed_logs(root)
    if options.json:
        document = {**found.to_dict(), "remedies": cures, "known_error": known_error(logs, settings)}
        return json.dumps(document, indent=1)
    return "\n".join(
        [*_head(found), "", *_memory(found), "", *_answer(found, cures), "", *_notes(found, logs, costs, memory.basis)]
    )


def known_error(logs: tuple[RecomputedLog, ...], settings: EngineSettings) -> dict[str, float | int]:
    """Return the errors of the tokens on logs with one GPU or, if the settings have several, on those with several."""
    several = settings.tensor > 1
    errors = [abs(each.flags_error) for each in logs if each.flags_error is not None and (each.log.gpus > 1) is several]
    return {"logs": len(errors), "median": median(errors), "largest": max(errors)} if errors else {"logs": 0}


def _head(found: VllmEstimate) -> list[str]:
    settings = found.settings
    gpus = f"{settings.tensor} GPUs, " if settings.tensor > 1 else ""
    weights = f"{settings.quantization} weights, " if settings.quantization else ""
    return [
        f"{found.model} in {_TESTED}: {gpus}{weights}{settings.cache} KV cache",
        f"  --gpu-memory-utilization {settings.gpu_memory_utilization} --max-model-len {settings.max_model_len}",
        f"  --max-num-seqs {settings.max_num_seqs} --max-num-batched-tokens {settings.max_num_batched_tokens}",
    ]


def _memory(found: VllmEstimate) -> list[str]:
    rows = {
        "budget per GPU": found.budget,
        "weights": found.weights,
        "profiled batch": found.profiled,
        "non-torch, CUDA graphs": found.other,
        "left for KV cache": found.available,
    }
    return [f"  {name:<24}{gib(size):>12}" for name, size in rows.items()]


def _answer(found: VllmEstimate, cures: list[str]) -> list[str]:
    length = int(found.settings.max_model_len or 0)
    if found.outcome == STARTS:
        return [
            "vLLM starts, and reports about:",
            f"  Available KV cache memory: {found.available / 2**30:.2f} GiB",
            f"  GPU KV cache size: {found.tokens:,} tokens",
            f"  Maximum concurrency for {length:,} tokens per request: {found.concurrency:.2f}x",
        ]
    if found.outcome == NO_MEMORY:
        reason = "No available memory for the cache blocks."
    else:
        reason = (
            f"To serve at least one request with the model's max seq len ({length}), {found.needed / 2**30:.2f} GiB KV"
            f" cache is needed, which is larger than the available KV cache memory ({found.available / 2**30:.2f} GiB)."
        )
    lines = ["vLLM fails to start:", f"  {reason}"]
    if not cures:
        return [*lines, "No single flag makes it start."]
    return [*lines, "Each of these flags alone makes it start:", *(f"  {each}" for each in cures)]


def _notes(found: VllmEstimate, logs: tuple[RecomputedLog, ...], costs: FittedCosts, basis: str) -> list[str]:
    error = known_error(logs, found.settings)
    gpus = "one GPU" if found.settings.tensor == 1 else "several GPUs"
    known = "no published log with so many GPUs states enough"
    if error["logs"]:
        figures = f"median {error['median']:.1f} %, largest {error['largest']:.1f} %"
        known = f"{figures}, on {error['logs']} published logs with {gpus}"
    per_logit = f"{costs.sampler[found.settings.engine]:g} bytes per logit of the sampler"
    return [
        f"Known error of the tokens: {known}",
        "Assumptions:",
        f"  memory of the card {gib(found.card)}: {basis}",
        f"  fitted to {costs.logs} logs: {per_logit}, {gib(found.other)} of non-torch memory and CUDA graphs",
        "  no multimodal encoder, no LoRA adapters, no draft model, no pipeline parallelism, nothing else on the card",
    ]
