"""The grid of jobs by which estimates are compared with traced steps, and traced steps with measured ones."""

import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headroom.memory.families import FAMILIES
from headroom.memory.job import INFERENCE
from headroom.memory.tracing.configurations import configuration, configuration_of
from headroom.memory.tracing.models import TraceSettings
from headroom.memory.tracing.peaks import TracedPeak, trace
from headroom.memory.tracing.real_step import Meter, measured_on_gpu, measured_peak
from headroom.records.memory_errors import ComparedStep, MeasuredStep, TracedStep
from headroom.records.model_shapes import read_shape

_SHAPES = (
    *("llama-3.2-1b", "gpt2", "mistral-7b-v0.1", "qwen3-0.6b", "phi-3-mini", "gemma-2-2b", "opt-1.3b"),
    *("starcoder2-3b", "mixtral-8x7b", "pythia-410m", "bert-large", "roberta-base", "t5-base", "qwen2.5-0.5b"),
    *("olmoe-1b-7b", "gpt-oss-20b", "gemma-3-1b", "olmo-2-7b", "granite-3.3-8b", "smollm3-3b", "aya-23-8b"),
    *("qwen3-30b-a3b", "llama-3.1-8b"),
)
"""One published model per architecture, and a second size of the first one."""
_OF_ALL, _SMALL = 3, 14
"""The number of jobs that all models have, and of models that have all jobs."""
_JOBS: tuple[Mapping[str, Any], ...] = (
    {"precision": "bf16", "optimizer": "adamw_torch", "batch": 2, "length": 1024},
    {"precision": "autocast", "optimizer": "adamw_torch_fused", "batch": 4, "length": 2048, "checkpointing": True},
    {"job": "lora", "precision": "bf16", "optimizer": "adamw_torch", "batch": 4, "length": 1536, "rank": 32},
    {"job": "decode", "precision": "bf16", "batch": 8, "length": 2048},
    {"precision": "fp32", "optimizer": "adamw_torch_loop", "batch": 1, "length": 512, "accumulation": 2},
    {"job": "qlora", "precision": "mixed", "batch": 2, "length": 2048, "checkpointing": True},
    {"precision": "bf16", "attention": "eager", "optimizer": "sgd", "batch": 1, "length": 768},
    {"job": "prefill", "precision": "bf16", "batch": 2, "length": 2048},
    {"precision": "bf16", "batch": 4, "length": 2048, "checkpointing": True, "loss": "chunked", "chunk": 256},
    {"job": "evaluate", "precision": "bf16", "batch": 4, "length": 1024},
)
_SMALL_LLAMA: Mapping[str, Any] = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 4,
    "vocab_size": 32000,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 64,
}
_SMALL_MIXTRAL: Mapping[str, Any] = {
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 64,
}
_MEASURED: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
    ("gpt2", {"n_layer": 4}, {"precision": "fp32", "batch": 2, "length": 256}),
    ("gpt2", {"n_layer": 4}, {"precision": "autocast", "batch": 4, "length": 256, "checkpointing": True}),
    ("gpt2", {"n_layer": 4}, {"precision": "fp32", "batch": 2, "length": 128, "attention": "eager", "accumulation": 2}),
    ("llama-3.2-1b", _SMALL_LLAMA, {"precision": "fp32", "batch": 2, "length": 256}),
    ("llama-3.2-1b", _SMALL_LLAMA, {"precision": "bf16", "batch": 4, "length": 256, "checkpointing": True}),
    ("llama-3.2-1b", _SMALL_LLAMA, {"job": "lora", "targets": "qv", "precision": "fp32", "batch": 4, "length": 256}),
    ("llama-3.2-1b", _SMALL_LLAMA, {"precision": "autocast", "batch": 2, "length": 256, "attention": "eager"}),
    ("qwen3-0.6b", {"num_hidden_layers": 4}, {"precision": "fp32", "batch": 1, "length": 256, "accumulation": 2}),
    ("qwen3-0.6b", {"num_hidden_layers": 4}, {"job": "lora", "precision": "bf16", "batch": 2, "length": 256}),
    ("mixtral-8x7b", _SMALL_MIXTRAL, {"precision": "bf16", "batch": 2, "length": 256}),
    ("bert-base", {"num_hidden_layers": 4}, {"precision": "fp32", "batch": 4, "length": 256}),
    ("t5-small", {"num_layers": 3, "num_decoder_layers": 3}, {"precision": "fp32", "batch": 4, "length": 256}),
    ("opt-125m", {"num_hidden_layers": 4}, {"precision": "fp32", "batch": 2, "length": 256, "optimizer": "sgd"}),
    ("pythia-160m", {"num_hidden_layers": 4}, {"precision": "fp32", "batch": 4, "length": 256, "checkpointing": True}),
    ("smollm2-135m", {"num_hidden_layers": 8}, {"job": "evaluate", "precision": "fp32", "batch": 2, "length": 256}),
    ("llama-3.2-1b", _SMALL_LLAMA, {"precision": "fp32", "batch": 2, "length": 1024, "loss": "chunked", "chunk": 256}),
)
"""A model, what makes it small, and the job."""
_POSITIONS = {"bert": 512, "roberta": 512, "gpt2": 1024}
"""The positions of architectures that learn one vector per position."""


def grid() -> Iterator[ComparedStep]:
    """Yield the jobs whose estimates are compared with traced steps; large models have the first jobs only."""
    for number, job in enumerate(_JOBS):
        for name in _SHAPES if number < _OF_ALL else _SHAPES[:_SMALL]:
            yield ComparedStep(model=name, job=dict(job))


def measured_grid() -> Iterator[ComparedStep]:
    """Yield the jobs that are traced and measured on a CPU; those for a GPU are in the measuring order."""
    for name, changed, job in _MEASURED:
        yield ComparedStep(model=name, changed=dict(changed), job={"optimizer": "adamw_torch", **job})


def settings_of(job: Mapping[str, Any], family: str, device: str = "cuda") -> TraceSettings:
    """Return the settings of the tracer for the options of an estimate.

    Args:
        job: the options of ``headroom estimate``.
        family: the ``model_type``, whose first attention implementation is the default.
        device: ``cuda`` or ``cpu``.

    Raises:
        TypeError: an option has no counterpart.
    """
    given = dict(job)
    kind, targets = given.pop("job", "full"), given.pop("targets", "all")
    context = given["length"] if kind == "decode" else 0
    chunk = given.pop("chunk", 512) if given.pop("loss", "whole") == "chunked" else 0
    given.setdefault("attention", "sdpa" if device == "cpu" else FAMILIES[family].attentions[0])
    given.setdefault("optimizer", "adamw_torch_fused")
    return TraceSettings(
        job=f"{kind}-{targets}" if kind in ("lora", "qlora", "dora") else kind,
        checkpointed=given.pop("checkpointing", False),
        context=context,
        loss_chunk=chunk,
        device=device,
        **given,
    )


def traced_step(step: ComparedStep, root: Path) -> TracedStep:
    """Return a job with its traced memory, or why it cannot be traced; its length is at most the model's positions.

    Args:
        step: the job.
        root: the project's folder.
    """
    config = configuration(step.model, root)
    family = str(read_shape(step.model, root).config["model_type"])
    length = min(int(step.job["length"] or 0), _POSITIONS.get(family, 1 << 20))
    job = {**step.job, "length": length}
    try:
        found = trace(config, settings_of(job, family))
    except Exception as error:  # noqa: BLE001 - a library's refusal is recorded, whatever its type
        fault = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return TracedStep(model=step.model, family=family, job=job, refused=fault)
    finally:
        gc.collect()
    return TracedStep(model=step.model, family=family, job=job, traced=traced_parts(found, str(job.get("job", "full"))))


def measured_step(step: ComparedStep, root: Path, device: str, meter: Callable[[str], Meter]) -> MeasuredStep:
    """Return a job traced and measured on this machine; run it in a fresh process, because allocators keep memory.

    Args:
        step: the job.
        root: the project's folder.
        device: ``cpu`` or ``cuda``.
        meter: makes the meter of a CPU's allocations.

    Raises:
        ValueError: the job cannot be traced or measured.
    """
    fields = {**read_shape(step.model, root).config, **step.changed}
    settings = settings_of(step.job, str(fields["model_type"]), device)
    if device == "cuda":
        sizes = measured_on_gpu(configuration_of(fields), settings)
    else:
        sizes = {"measured": measured_peak(configuration_of(fields), settings, meter(device))}
    found = trace(configuration_of(fields), settings)
    traced = traced_parts(found, str(step.job.get("job", "full")))["peak"]
    return MeasuredStep(**step.model_dump(), device=device, traced=traced, **sizes)


def traced_parts(found: Mapping[str, TracedPeak], job: str) -> dict[str, int]:
    """Return the largest memory of each kind of phase, of all phases as ``peak``, and of the weights.

    Args:
        found: the traced peaks by phase.
        job: the kind of job; inference has one phase of its name.
    """
    parts: dict[str, int] = {}
    for phase, peak in found.items():
        if phase != "setup":
            name = job if job in INFERENCE else phase.split()[0]
            parts[name] = max(parts.get(name, 0), peak.total)
    weights = max(peak.parts.get("weights", 0) for peak in found.values())
    return parts | {"peak": max(parts.values()), "weights": weights}
