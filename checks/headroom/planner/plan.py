"""Plan a training run: the layouts that fit on a cluster, best first, and which of them cannot be told apart."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError, one_of, whole
from headroom.memory.job import Job
from headroom.planner.candidates import Demand
from headroom.planner.card import PlannedCluster, planned_cluster
from headroom.planner.decoder import decoder_of
from headroom.planner.recorded import read_constants
from headroom.planner.search import Accuracy, PlannedLayout, Search, accuracy_of, ranked
from headroom.planner.step_time import Work
from headroom.records.data_root import data_root

LEFT_OUT = (
    "data loading, checkpoints, evaluation and warm-up",
    "a difference between nodes, other jobs on the network, and failures",
    "interleaved and zero-bubble pipelines, CPU offload, and uneven stages",
    "padding: every sequence is full",
    "unequal load of experts",
)
"""What a plan does not count."""
_MOST_BATCH, _MOST_LENGTH = 1 << 24, 1 << 24


@dataclass(frozen=True, slots=True)
class Plan:
    """The layouts that fit, best first.

    Attributes:
        model: the model's name.
        cluster: the cluster and its assumptions.
        batch: sequences per optimizer step.
        length: tokens per sequence.
        layouts: those that fit.
        without_room: the number of layouts that do not fit.
        accuracy: what is known of the error of step times.
        notes: what is assumed.
        loss: the loss, as for ``estimate``.
        least: if no layout fits, the one that needs the least memory per GPU, and the least and the most bytes that its
            process takes.
    """

    model: str
    cluster: PlannedCluster
    batch: int
    length: int
    layouts: tuple[PlannedLayout, ...]
    without_room: int
    accuracy: Accuracy
    notes: tuple[str, ...]
    loss: str = "whole"
    least: tuple[str, tuple[int, int]] | None = None

    @property
    def tied(self) -> int:
        """The number of layouts that the model's error does not tell from the fastest, which counts too."""
        return sum(not each.slower for each in self.layouts)

    def interval(self, each: PlannedLayout) -> tuple[float, float] | None:
        """Return the seconds between which four fifths of such steps are; None if published runs are too few."""
        low, high = self.accuracy.low, self.accuracy.high
        return None if low is None or high is None else (each.time.seconds * low, each.time.seconds * high)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {
            "model": self.model,
            "card": self.cluster.title,
            "cluster": asdict(self.cluster.cluster),
            "batch": self.batch,
            "length": self.length,
            "accuracy": asdict(self.accuracy),
            "layouts": [self._layout(each) for each in self.layouts],
            "do_not_fit": self.without_room,
            "least": self.least and {"name": self.least[0], "needed_bytes": list(self.least[1])},
            "notes": list(self.notes),
            "left_out": list(LEFT_OUT),
        }

    def _layout(self, each: PlannedLayout) -> dict[str, Any]:
        return {
            "name": each.name,
            "slower_than_the_fastest": each.slower,
            "layout": asdict(each.layout),
            "micro_batch": each.work.batch,
            "accumulation": each.work.accumulation,
            "checkpointing": bool(each.work.recompute),
            "seconds": each.time.seconds,
            "interval": self.interval(each),
            "tokens_per_second_per_gpu": each.time.rate,
            "parts": {
                "compute": each.time.compute,
                "exposed_communication": each.time.communication,
                "bubble": each.time.bubble,
                "optimizer": each.time.optimizer,
                "straggling": each.time.straggling,
            },
            "sent_bytes": each.time.sent,
            "peak_bytes": each.peak,
            "needed_bytes": list(each.needed),
            "verdict": each.verdict,
        }


def plan(
    model: Any,
    *,
    card: str,
    gpus: int = 1,
    batch: int = 1,
    length: int = 2048,
    gpus_per_node: int | None = None,
    network: float | None = None,
    link: float | None = None,
    precision: str = "bf16",
    kernels: str = "fused",
    tensor_overlap: bool = False,
    loss: str = "whole",
    optimizer: str = "adamw_torch_fused",
    sure: bool = False,
    root: Path | str | None = None,
) -> Plan:
    """Plan full training of a model on a cluster.

    Args:
        model: a name, a path or a configuration, as for ``estimate``.
        card: a card's name, such as ``H100``.
        gpus: the GPUs.
        batch: sequences per optimizer step, over all GPUs and micro-batches.
        length: tokens per sequence.
        gpus_per_node: the GPUs that the fast link joins; 8 or all by default.
        network: Gb/s per GPU and direction between nodes; 400 by default.
        link: GB/s per GPU and direction inside of a node; that of the accelerator's record by default.
        precision: the format of the layers' matmuls, ``bf16`` or ``fp8``.
        kernels: ``fused`` with torch.compile or fused kernels, else ``eager``.
        tensor_overlap: whether communication of tensor parallelism runs next to matmuls.
        loss: the loss, as for ``estimate``.
        optimizer: the optimizer, as for ``estimate``.
        sure: whether layouts that fit only within the error of the memory estimate are left out.
        root: the project's folder, with checks/facts/ and checks/published/; by default, see ``data_root``.

    Raises:
        EstimateError: the model or the card is unknown, or a field is wrong.
    """
    place = data_root(root).resolve()
    work = _work(length, precision, kernels, tensor_overlap=tensor_overlap)
    whole("batch", batch, most=_MOST_BATCH)
    cluster = planned_cluster(card, gpus, gpus_per_node, network, link, place)
    if precision not in cluster.cluster.peaks:
        raise EstimateError("precision", f"is {precision}, and {cluster.title} has no recorded rate", "use bf16")
    architecture = read_architecture(model, place)
    demand = Demand(decoder=decoder_of(architecture.config), batch=batch, work=work)
    job = Job(precision="bf16", master_weights=True, optimizer=optimizer, loss=loss, length=length)
    search = Search(architecture, job, demand, cluster, read_constants(place), place, sure)
    found, tried = search.fitting()
    if not tried:
        raise EstimateError("batch", f"is {batch}, which no layout over {gpus} GPUs divides", "use a multiple of gpus")
    accuracy = accuracy_of(place, experts=demand.decoder.experts > 1)
    notes = (*cluster.notes, *_notes(demand))
    fitting = ranked(found, accuracy)
    least = None if found else search.least()
    return Plan(architecture.name, cluster, batch, length, fitting, tried - len(found), accuracy, notes, loss, least)


def _work(length: int, precision: str, kernels: str, *, tensor_overlap: bool) -> Work:
    one_of("precision", precision, ("bf16", "fp8"))
    one_of("kernels", kernels, ("fused", "eager"))
    whole("length", length, most=_MOST_LENGTH)
    return Work(length=length, precision=precision, kernels=kernels, tensor_overlap=tensor_overlap)


def _notes(demand: Demand) -> Iterator[str]:
    yield "bf16 weights and gradients with fp32 master weights and AdamW states; gradients are reduced in fp32"
    yield "tensor parallelism divides norms, residuals and vocabulary too"
    yield "of each layout, the fastest micro-batch and checkpointing that fit"
    if demand.work.precision == "fp8":
        yield "memory is that of bf16: what fp8 saves or adds is not counted"
    if demand.decoder.experts > 1:
        yield "experts: published runs are slower than predicted, by the whole interval"
