"""Turn the conditions of a published run into a job of the estimator."""

from pathlib import Path
from typing import Any

from headroom.memory.errors import EstimateError
from headroom.memory.estimate import Estimate, estimate
from headroom.memory.validation import ValidationRow
from headroom.records.memory_rows import MemoryJob

_PRECISIONS = {"bf16": "bf16", "bf16-autocast": "mixed", "autocast": "autocast", "fp32": "fp32"}
_OPTIMIZERS = {
    ("adamw-torch", None): "adamw_torch",
    ("adamw-torch", "foreach"): "adamw_torch",
    ("adamw-torch", "fused"): "adamw_torch_fused",
    ("adamw-torch", "loop"): "adamw_torch_loop",
    ("paged-adamw", None): "paged_adamw_32bit",
}
_FOUR_BIT = {"nf4": "nf4", "nf4-double": "nf4-double"}
_ATTENTION = {"q_proj", "k_proj", "v_proj", "o_proj"}
_STRATEGIES = {"none": "ddp", "zero-1": "zero1", "zero-2": "zero2", "zero-3": "zero3", "fsdp": "fsdp"}


def options_of(job: MemoryJob) -> dict[str, Any]:
    """Return the options of an estimate for the conditions of a run.

    Raises:
        EstimateError: the estimator has no such job.
    """
    options: dict[str, Any] = {
        "job": job.kind,
        "precision": _known("precision", _PRECISIONS, job.precision),
        "batch": job.batch,
        "length": job.length,
    }
    if job.kind not in ("prefill", "decode"):
        options |= _training(job)
    if job.kind == "qlora":
        options |= {"quantization": _known("quantization", _FOUR_BIT, job.quantization)}
        options |= {"quantized_experts": bool(job.quantized_experts), "saved_inputs": bool(job.saved_inputs)}
    if job.adapter_rank:
        options |= {"rank": job.adapter_rank, "targets": _targets(job)}
    return options | _layout(job)


def _training(job: MemoryJob) -> dict[str, Any]:
    return {
        "optimizer": _known("optimizer", _OPTIMIZERS, (job.optimizer, job.optimizer_form)),
        "accumulation": job.accumulation,
        "checkpointing": job.checkpointing == "full",
        "reentrant": bool(job.reentrant),
        "loss": job.loss,
        **({"chunk": job.chunk} if job.chunk else {}),
    }


def _known(field: str, words: Any, given: Any) -> str:
    if given not in words:
        raise EstimateError(field, f"is {given}", f"the estimator has {', '.join(map(str, words))}")
    return str(words[given])


def _targets(job: MemoryJob) -> str:
    """Return the adapted layers; names of layers that the model does not have are left out."""
    targets = {*(job.adapter_targets or ())} - {"c_attn"}
    for name, modules in (("qv", {"q_proj", "v_proj"}), ("attention", _ATTENTION)):
        if targets == modules:
            return name
    raise EstimateError("targets", f"is {', '.join(sorted(targets))}", "use all, attention or qv")


def _layout(job: MemoryJob) -> dict[str, Any]:
    if job.layout is None or job.layout.ranks == 1:
        return {}
    layout = job.layout
    return {
        "strategy": _STRATEGIES[layout.sharding],
        "data": layout.data,
        "tensor": layout.tensor,
        "pipeline": layout.pipeline,
        "context": layout.context,
    }


def estimate_row(row: ValidationRow, root: Path) -> Estimate:
    """Return the estimate of a published run.

    Raises:
        EstimateError: the estimator has no such job.
    """
    return estimate(str(row.row.model), root=root, **options_of(row.conditions))
