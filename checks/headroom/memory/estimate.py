"""Estimate a job's memory per GPU: its phases, their components, and the peak."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from headroom.memory.architecture import Architecture, read_architecture
from headroom.memory.assumptions import assumptions, left_out
from headroom.memory.coefficients import attention_of, variant
from headroom.memory.errors import EstimateError
from headroom.memory.fixed_costs import FixedCosts, fixed_costs
from headroom.memory.job import Job
from headroom.memory.known_errors import KnownError, known_error
from headroom.memory.layouts import Layout, local_symbols
from headroom.memory.moments import Moment, phases
from headroom.memory.phases import Composition
from headroom.memory.resident import Resident
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
