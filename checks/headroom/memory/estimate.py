"""Estimate a job's memory per GPU: its phases, their components, and the peak."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.cache import window_of
from headroom.memory.coefficients import attention_of, variant
from headroom.memory.errors import EstimateError
from headroom.memory.fixed_costs import FixedCosts, fixed_costs
from headroom.memory.job import Job
from headroom.memory.known_errors import KnownError, known_error
from headroom.memory.layouts import Layout, local_symbols
from headroom.memory.moments import Moment, phases
from headroom.memory.phases import Composition
from headroom.memory.resident import Resident
from headroom.memory.sizes import gib
from headroom.memory.weight_formats import CHECKPOINTS, EIGHT_BITS, FOUR_BITS
from headroom.memory.weights import parameters
from headroom.records.data_root import data_root
from headroom.records.memory_coefficients import VariantMemory

_LAYOUT_FIELDS = frozenset(Layout.__dataclass_fields__)
_JOB_FIELDS = frozenset(Job.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated memory of a job on the GPU that holds the most.

    Attributes:
        model: the model's name.
        family: its ``model_type``.
        parameters: its number of parameters.
        job: the job.
        stage: the pipeline stage, from 0.
        phases: the largest moment of each phase, whose components add up to its bytes.
        fixed: what the process takes beyond its allocated tensors.
        assumptions: what is assumed and not derived.
        traced: the versions of the libraries that were traced.
        known_error: the errors of estimates of this kind of job, against published peaks or traced steps; None if
            there is none.
    """

    model: str
    family: str
    parameters: int
    job: Job
    stage: int
    phases: tuple[Moment, ...]
    fixed: FixedCosts
    assumptions: tuple[str, ...]
    traced: Mapping[str, str] = field(hash=False)
    known_error: KnownError | None = None

    @property
    def peak_phase(self) -> Moment:
        """Return the largest phase."""
        return max(self.phases, key=lambda each: each.bytes)

    @property
    def peak(self) -> int:
        """Return the peak of allocated bytes."""
        return self.peak_phase.bytes

    @property
    def runner_up(self) -> Moment | None:
        """Return the second-largest phase, if there is one."""
        return next((each for each in sorted(self.phases, key=lambda each: -each.bytes)[1:]), None)

    @property
    def needed(self) -> tuple[int, int]:
        """Return the least and the most bytes of a card that the process takes."""
        return self.peak + self.fixed.low, self.peak + self.fixed.high

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        runner = self.runner_up
        return {
            "model": self.model,
            "family": self.family,
            "parameters": self.parameters,
            "job": asdict(self.job),
            "gpus": self.job.layout.gpus,
            "stage": self.stage,
            "peak": {"bytes": self.peak, "phase": self.peak_phase.phase},
            "runner_up": runner and {"bytes": runner.bytes, "phase": runner.phase},
            "needed": {"low": self.needed[0], "high": self.needed[1]},
            "phases": [{**asdict(each), "bytes": each.bytes} for each in self.phases],
            "fixed": asdict(self.fixed),
            "known_error": self.known_error and asdict(self.known_error),
            "assumptions": list(self.assumptions),
            "traced": dict(self.traced),
        }


def estimate(model: Any, *, job: Job | str | None = None, root: Path | str | None = None, **options: Any) -> Estimate:
    """Estimate the memory of a job per GPU.

    Args:
        model: the name of a recorded shape or a hub name, a folder with config.json, the path of a config.json, a
            dictionary, or an object with ``to_dict``.
        job: a ``Job``, or its kind, such as ``full`` or ``lora``.
        root: the project's folder, with checks/coefficients/ and checks/facts/; by default, see ``data_root``.
        **options: fields of ``Job`` and ``Layout``: ``batch=4``, ``length=8192``, ``strategy="fsdp"``, ``data=8``.

    Raises:
        EstimateError: the model is unknown, its architecture was not traced, or a field is wrong.
    """
    place = data_root(root)
    return estimate_architecture(read_architecture(model, place), configured_job(job, options), place)


def configured_job(job: Job | str | None, options: Mapping[str, Any]) -> Job:
    """Return a job with changed fields of the job and of its layout.

    Raises:
        EstimateError: a field does not exist, has an impossible value, or has no effect on the job.
    """
    if unknown := sorted(options.keys() - _JOB_FIELDS - _LAYOUT_FIELDS):
        raise EstimateError(unknown[0], "is no option", f"use one of {', '.join(sorted(_JOB_FIELDS | _LAYOUT_FIELDS))}")
    if isinstance(job, str):
        kind, _, targets = job.partition("-")
        options = {"job": kind, **({"targets": targets} if targets else {}), **options}
    if options.get("job") == "pretrain":
        options = {**options, "job": "full"}  # both train every weight
    start = job if isinstance(job, Job) else Job()
    layout = {name: value for name, value in options.items() if name in _LAYOUT_FIELDS}
    own = {name: value for name, value in options.items() if name in _JOB_FIELDS}
    return replace(start, **{**own, "layout": replace(own.get("layout", start.layout), **layout)})


def estimate_architecture(architecture: Architecture, job: Job, root: Path) -> Estimate:
    """Estimate the memory of a job for a model whose shape is known; see ``estimate``."""
    job, polynomials, tied = recorded(architecture, job)
    stages = {
        number: phases(Composition(resident, polynomials, in_flight, traced_tied=tied).moments())
        for number, (resident, in_flight) in _stages(architecture, job).items()
    }
    stage = max(stages, key=lambda number: max(each.bytes for each in stages[number]))
    peak = max(each.bytes for each in stages[stage])
    return Estimate(
        model=architecture.name,
        family=architecture.coefficients.family,
        parameters=parameters(architecture),
        job=job,
        stage=stage,
        phases=stages[stage],
        fixed=fixed_costs(peak, job.layout, root),
        assumptions=(*assumptions(job), *left_out(architecture, job)),
        traced=architecture.coefficients.versions,
        known_error=known_error(job, root),
    )


def recorded(architecture: Architecture, job: Job) -> tuple[Job, VariantMemory, bool]:
    """Return a job with the attention that was traced, its polynomials, and whether they are of tied embeddings.

    Raises:
        EstimateError: the family was not traced with this job, or a library refuses it.
    """
    if job.attention == "auto":
        job = replace(job, attention=attention_of(architecture.coefficients, job.variant))
    coefficients, name = architecture.coefficients, job.variant
    decoder = any(" prefill" in each for each in coefficients.variants)  # others have layers in front of the LM head
    if job.training and job.loss in ("chunked", "fused") and not decoder:
        raise EstimateError("loss", f"is {job.loss}, which was not traced for {coefficients.family}", "use whole")
    return job, *variant(coefficients, name, tied=architecture.tied, grouped=architecture.grouped)


def _stages(architecture: Architecture, job: Job) -> dict[int, tuple[Resident, int]]:
    """Return the first, the second and the last pipeline stage, each with its micro-batches in flight."""
    count, kinds = job.layout.pipeline, architecture.kinds
    if count > len(kinds):
        raise EstimateError("pipeline", f"is {count} with {len(kinds)} layers", "use at most one stage per layer")
    each = -(-len(kinds) // count)
    tokens = {
        "B": job.batch,
        "S": 1 if job.job == "decode" else job.length,
        "C": job.length,
        "r": job.rank,
        "K": job.chunk,
    }
    if job.layout.expert > 1 and "E" not in architecture.symbols:
        raise EstimateError("expert", f"is {job.layout.expert} for a model without experts", "use 1")
    if job.layout.tensor > 1 and "q" not in architecture.coefficients.derived:
        raise EstimateError("tensor", f"{architecture.coefficients.family} was traced without sizes per head", "use 1")
    symbols = architecture.with_derived(local_symbols({**architecture.symbols, **tokens}, job.layout))
    if count == 1:
        return {0: (Resident(architecture, job, symbols, kinds, first=True, last=True), 1)}
    first = Resident(architecture, job, symbols, kinds[:each], first=True, last=False)
    last = Resident(architecture, job, symbols, kinds[-each:], first=False, last=True)
    found = {0: (first, min(count, job.accumulation)), count - 1: (last, 1)}
    if 1 not in found:
        inner = Resident(architecture, job, symbols, kinds[each : 2 * each], first=False, last=False)
        found[1] = inner, min(count - 1, job.accumulation)
    return found


def _of_masks(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield what is left out where sdpa takes a mask: in layers whose sliding window is not longer than the sequence.

    transformers makes the mask in `sdpa_mask`, and torch's memory-efficient kernel saves it in the type of the queries.
    """
    windows = [window_of(architecture, layer) for layer in range(len(architecture.kinds))]
    masked = [window for window in windows if window is not None and window <= job.length]
    if masked and job.attention == "sdpa" and job.job != "decode":
        saved = len(masked) if job.training and not job.checkpointing else 1
        size = gib(saved * job.compute_width * job.batch * (job.length // job.layout.context) * job.length)
        yield (
            f"too low by {size} or more: the mask of sdpa in {len(masked)} layers with a sliding window of "
            f"{min(masked):,} tokens is not counted; `headroom trace` counts it"
        )


def _of_dropout(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield where dropout is on and was traced as off, or the reverse; fused attention saves no mask for its own."""
    config, fused = architecture.config, job.attention != "eager"
    for name, traced in sorted(architecture.coefficients.dropouts.items()):
        rate = config.get(name)
        counted = not (fused and name.startswith(("attention_", "attn_")))
        if job.training and counted and isinstance(rate, int | float) and (rate > 0) != traced:
            was = "counted, though it is 0" if traced else f"not counted, though it is {rate}"
            yield f"too {'high' if traced else 'low'}: the dropout masks of {name} are {was}; trace the model"


def left_out(architecture: Architecture, job: Job) -> Iterator[str]:
    """Yield what this model needs and its estimate does not count, or counts and the model does not need."""
    places = architecture.symbols.get("P")
    if places is not None and job.length > places:
        yield f"the model cannot run this length: it has {places:,} positions, and a sequence has {job.length:,} tokens"
    if job.weight_format not in (None, *CHECKPOINTS) and "E" in architecture.symbols and not job.quantized_experts:
        yield (
            f"experts stay in {8 * job.width} bits: bitsandbytes quantizes linear layers, and transformers 5 stores a "
            "layer's experts as one tensor"
        )
    yield from _of_masks(architecture, job)
    yield from _of_dropout(architecture, job)


def assumptions(job: Job) -> tuple[str, ...]:
    """Return what an estimate of this job assumes, beyond the traced polynomials."""
    layout = job.layout
    rules = {
        "fused kernels keep no workspace between operations": True,
        "no sequence is padded: with padding, attention takes a mask, and other kernels": True,
        "no layer is compiled": True,
        "the optimizer states exist: the second step, not the first": job.training,
        "a chunk's three LM-head gradients exist at once": job.training and job.loss == "chunked",
        f"a chunk of the loss has {job.chunk:,} tokens of each sequence, together {job.batch * job.chunk:,}": (
            job.training and job.loss == "chunked"
        ),
        "Liger's fused loss by its source, not traced": job.training and job.loss == "fused",
        "states of paged optimizers may be in CPU memory and are not counted": job.training
        and job.optimizer.startswith("paged"),
        f"{job.weight_format} weights keep norms, embedding and LM head in {8 * job.width} bits": bool(
            job.weight_format
        ),
        "a 4-bit layer copies its weight to 16 bits while it runs": not job.training
        and job.weight_format in FOUR_BITS
        and not (job.job == "decode" and job.batch == 1),
        "an 8-bit layer quantizes its input, and int8 holds the product in 32 bits": not job.training
        and job.weight_format in EIGHT_BITS,
        "4-bit layers save their inputs, as bitsandbytes before 0.43.2": job.saved_inputs,
        "FSDP keeps the inputs of frozen layers and their gradients until the backward pass ends": job.inputs_persist,
        "DDP keeps a copy of all gradients in its buckets": layout.strategy == "ddp"
        and not layout.gradient_as_bucket_view,
        "FSDP reduces the gradients of each micro-batch; whole ones until the last, as in the Trainer, are no_sync": (
            job.accumulation > 1 and layout.strategy in ("fsdp", "hsdp") and layout.gpus > 1 and not job.no_sync
        ),
        "FSDP holds whole gradients until the last micro-batch": job.no_sync,
        "two layers and all tensors outside of the layers are gathered at once": layout.weight_shards > 1,
        "tensor parallelism divides heads, MLP and their activations; norms are whole": layout.tensor > 1,
        "sequence parallelism divides norms and residuals": layout.sequence_parallel,
        "the pipeline schedule is 1F1B": layout.pipeline > 1,
        "a pipeline stage has a receive buffer per micro-batch, as PyTorch's have": layout.pipeline > 1
        and job.training,
        "context parallelism divides every activation by tokens, and attention scores by queries; gathered keys and "
        "values of other GPUs are not counted": layout.context > 1,
        "experts receive equally many tokens": layout.expert > 1,
        "offloaded states and their optimizer step take no GPU memory": layout.offload != "none",
    }
    return tuple(sentence for sentence, holds in rules.items() if holds)
