"""Published training runs as the step-time model sees them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from headroom.memory.layouts import Layout
from headroom.planner.cluster import (
    Cluster,
    clock_share,
    find_accelerator,
    link_bandwidth,
    memory_bandwidth,
    peaks_of,
    rates_of,
)
from headroom.planner.decoder import Decoder, decoder_of
from headroom.planner.step_time import Constants, StepTime, Work, step_time
from headroom.records.accelerators import Family
from headroom.records.model_shapes import ModelShape
from headroom.records.training_runs import DecoderSizes, RunCluster, RunSettings, RunTable, TrainingRun


@dataclass(frozen=True, slots=True)
class Run:
    """A published run: its record, and the inputs of the step-time model."""

    table: RunTable
    row: TrainingRun
    decoder: Decoder
    work: Work
    layout: Layout
    cluster: Cluster

    @property
    def name(self) -> str:
        """Return the ids of table and row."""
        return f"{self.table.id}/{self.row.id}"

    @property
    def utilization(self) -> float:
        """Return the part of the peak of the matmuls' format that the model's FLOPs take (MFU)."""
        flops = self.decoder.model_flops(self.work.length) * self.row.tokens_per_second
        return flops / self.cluster.peaks[self.work.precision]

    def predicted(self, constants: Constants) -> StepTime:
        """Return the predicted step time."""
        return step_time(self.decoder, self.work, self.layout, self.cluster, constants)


def read_runs(
    tables: Iterable[RunTable], shapes: Mapping[str, ModelShape], families: tuple[Family, ...]
) -> Iterator[Run]:
    """Yield each published run whose model has a shape.

    Raises:
        EstimateError: a record names an accelerator that does not exist, or a model that the planner does not know.
    """
    for table in tables:
        for row in table.rows:
            sizes, shape = table.models.get(row.model), shapes.get(row.model)
            if sizes is None and shape is None:
                continue
            decoder = _decoder(sizes) if sizes else decoder_of(shape.config if shape else {})
            settings = table.settings(row)
            cluster = _cluster(table.cluster, row.gpus, families)
            yield Run(table, row, decoder, _work(settings), _layout(settings, row.gpus), cluster)


def _decoder(sizes: DecoderSizes) -> Decoder:
    return Decoder(
        hidden=sizes.hidden,
        layers=sizes.layers,
        heads=sizes.heads,
        key_value_heads=sizes.key_value_heads,
        head=sizes.hidden // sizes.heads,
        intermediate=sizes.intermediate,
        mlp_matmuls=sizes.mlp_matmuls,
        vocabulary=sizes.vocabulary,
    )


def _cluster(record: RunCluster, gpus: int, families: tuple[Family, ...]) -> Cluster:
    family, accelerator = find_accelerator(families, record.accelerator)
    network = record.network * 1e9
    clock = clock_share(accelerator, record.watts)
    return Cluster(
        accelerator=record.accelerator,
        gpus=gpus,
        gpus_per_node=record.gpus_per_node,
        peaks=peaks_of(accelerator),
        rates={name: rate * clock for name, rate in rates_of(family, accelerator).items()},
        memory=record.bandwidth * 1e9 if record.bandwidth else memory_bandwidth(record.accelerator, accelerator),
        link=link_bandwidth(accelerator) or network,
        network=network,
    )


def _work(settings: RunSettings) -> Work:
    return Work(
        length=settings.length or 1,
        batch=settings.batch or 1,
        accumulation=settings.accumulation,
        precision=settings.precision or "bf16",
        recompute=settings.recompute or 0.0,
        kernels=settings.kernels or "fused",
        gradient_bytes=settings.gradient_bytes or 4,
        interleave=settings.interleave,
        tensor_overlap=settings.tensor_overlap,
    )


def _layout(settings: RunSettings, gpus: int) -> Layout:
    data = gpus // (settings.tensor * settings.pipeline * settings.context)
    return Layout(
        strategy=settings.strategy or "ddp",
        data=data,
        shard=settings.shard or 1,
        tensor=settings.tensor,
        pipeline=settings.pipeline,
        context=settings.context,
        expert=settings.expert,
    )
