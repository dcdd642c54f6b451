"""Run one session on each of several machines through an existing engine: submitit (one machine, Slurm) or Ray.

The engine finds the machines and reserves each exclusively. This module only passes tasks and collects results: it
never repeats a failed task, and never averages.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from headroom.execution.fleet_task import FleetResult, FleetTask, measure_here
from headroom.io import atomic_write, safe_read
from headroom.records.evidence import Evidence
from headroom.records.paths import evidence_path, evidence_text

SPARE_SECONDS = 120  # beyond the session's limit: copying the tree, and ending
FOLDER = ".cache/fleet"
"""Logs of the engine, below the root."""


class FleetError(RuntimeError):
    """No task can start; the message gives the reason and the remedy."""


def run(engine: str, task: FleetTask, machines: int, options: Mapping[str, str]) -> Iterator[FleetResult]:
    """Yield the result of each machine as it comes; a lost task is a result without evidence.

    Args:
        engine: a name of ``ENGINES``.
        task: what each machine measures.
        machines: the number of machines; with ``ray``, at most as many as the cluster has.
        options: options of the engine: those of ``sbatch`` for ``slurm``, and ``address`` for ``ray``.

    Raises:
        FleetError: the engine is not installed, or has no machines.
    """
    try:
        yield from ENGINES[engine](task, machines, options)
    except ImportError as error:
        raise FleetError(f"{error.name} is not installed; run pip install 'headroom[fleet]'") from error


def _local(task: FleetTask, machines: int, options: Mapping[str, str]) -> Iterator[FleetResult]:
    """Run the tasks on this machine, one after the other, since two at once would slow each other down."""
    _refuse(options, ())
    executor = _submitit(task, "local", {})
    for _ in range(machines):
        yield _result(executor.submit(measure_here, task).result)


def _slurm(task: FleetTask, machines: int, options: Mapping[str, str]) -> Iterator[FleetResult]:
    """Run the tasks as a job array, each on a node of its own."""
    import submitit  # noqa: PLC0415 - an optional library

    executor = _submitit(task, "slurm", {"exclusive": "", **options})
    with executor.batch():
        jobs = [executor.submit(measure_here, task) for _ in range(machines)]
    for job in submitit.helpers.as_completed(jobs):
        yield _result(job.result)


def _submitit(task: FleetTask, cluster: str, options: Mapping[str, str]) -> Any:
    import submitit  # noqa: PLC0415 - an optional library

    executor = submitit.AutoExecutor(folder=str(Path(task.root) / FOLDER), cluster=cluster)
    executor.update_parameters(name="headroom", timeout_min=math.ceil((task.seconds + SPARE_SECONDS) / 60))
    if cluster == "slurm":
        executor.update_parameters(slurm_additional_parameters=dict(options))
    return executor


def _ray(task: FleetTask, machines: int, options: Mapping[str, str]) -> Iterator[FleetResult]:
    """Run a task on each node of a Ray cluster, and reserve all its CPUs and GPUs."""
    import ray  # noqa: PLC0415 - an optional library
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415 - as above

    _refuse(options, ("address",))
    ray.init(address=options.get("address", "auto"), log_to_driver=False, logging_level="ERROR")
    try:
        nodes = [node for node in ray.nodes() if node["Alive"]][:machines]
        if not nodes:
            raise FleetError("the Ray cluster has no node that is alive; `ray status` lists them")
        waiting = [_on_node(ray.remote(measure_here), node, NodeAffinitySchedulingStrategy, task) for node in nodes]
        while waiting:
            (done, *_), waiting = ray.wait(waiting)
            yield _result(partial(ray.get, done))
    finally:
        ray.shutdown()


def _on_node(function: Any, node: Mapping[str, Any], place: Callable[..., Any], task: FleetTask) -> Any:
    """Start a task on one node, and reserve all of it; Ray would repeat a lost task, so it must not."""
    has = node["Resources"]
    return function.options(
        num_cpus=has.get("CPU", 0),
        num_gpus=has.get("GPU", 0),
        max_retries=0,
        scheduling_strategy=place(node["NodeID"], soft=False),
    ).remote(task)


ENGINES: dict[str, Callable[[FleetTask, int, Mapping[str, str]], Iterator[FleetResult]]] = {
    "local": _local,
    "slurm": _slurm,
    "ray": _ray,
}


def _refuse(options: Mapping[str, str], known: Sequence[str]) -> None:
    if odd := sorted(options.keys() - {*known}):
        expected = ", ".join(known) or "none"
        raise FleetError(f"this engine has no option {odd[0]!r}; its options: {expected}")


def _result(wait: Callable[[], FleetResult]) -> FleetResult:
    """Return a task's result; if the engine lost the task, why."""
    try:
        return wait()
    except Exception as error:  # noqa: BLE001 - engines raise their own errors, and one lost task must not end the others
        said = str(error).strip().splitlines() or [""]
        return FleetResult("unknown", "", f"the engine lost the task ({type(error).__name__}: {said[0][:200]})")


def adopted(result: FleetResult, root: Path) -> tuple[Path | None, FleetResult]:
    """Add a result's evidence to the tree; return its path, or None and why not.

    An evidence file that the tree has already is a duplicate: it is refused.
    """
    if not result.evidence:
        return None, result
    try:
        evidence = Evidence.model_validate_json(result.evidence[: safe_read.MAX_JSON_BYTES])
    except ValueError as error:
        return None, replace(result, evidence="", reason=f"it sent no valid evidence: {str(error).splitlines()[0]}")
    text = evidence_text(evidence)
    path = root / evidence_path(evidence, text)
    if path.exists():
        return None, replace(result, evidence="", reason=f"it sent {path.name}, which the tree has already")
    atomic_write.add(path, text)
    return path, result
