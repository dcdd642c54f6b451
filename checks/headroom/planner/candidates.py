"""The layouts over a number of GPUs that are worth a try, and the ways to run each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headroom.memory.layouts import Layout
from headroom.planner.cluster import Cluster
from headroom.planner.decoder import Decoder
from headroom.planner.step_time import Work

_MOST_PIPELINE, _MOST_BATCH, _LEAST_TOKENS = 16, 16, 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What has to be trained: the decoder, sequences per optimizer step, tokens per sequence, and the work's kind."""

    decoder: Decoder
    batch: int
    work: Work
    """The length, format, kernels and other settings that no layout changes."""


def layouts(demand: Demand, cluster: Cluster) -> Iterator[Layout]:
    """Yield each layout over the GPUs of a cluster.

    Tensor parallelism stays inside of a node and divides the key-value heads. Pipeline stages have equally many layers.
    A rank of context parallelism has at least 4,096 tokens of a sequence. The data-parallel ranks divide the batch.
    """
    decoder, gpus = demand.decoder, cluster.gpus
    for tensor in _powers(min(cluster.gpus_per_node, decoder.key_value_heads)):
        for pipeline in _powers(_MOST_PIPELINE):
            for context in _powers(max(1, demand.work.length // _LEAST_TOKENS)):
                ranks = tensor * pipeline * context
                if gpus % ranks or not _divides(demand, tensor, pipeline, context, gpus // ranks):
                    continue
                yield from _strategies(
                    _inner(tensor, pipeline, context),
                    gpus // ranks,
                    demand,
                    cluster,
                )


def _inner(tensor: int, pipeline: int, context: int) -> Layout:
    return Layout(
        tensor=tensor, pipeline=pipeline, context=context, sequence_parallel=tensor > 1, loss_parallel=tensor > 1
    )


def _divides(demand: Demand, tensor: int, pipeline: int, context: int, data: int) -> bool:
    decoder = demand.decoder
    even = not (decoder.heads % tensor or decoder.key_value_heads % tensor or decoder.intermediate % tensor)
    sequence = context == 1 or demand.work.length % (2 * context) == 0
    return even and sequence and not decoder.layers % pipeline and not demand.batch % data


def _strategies(layout: Layout, data: int, demand: Demand, cluster: Cluster) -> Iterator[Layout]:
    """Yield a layout with each kind of data parallelism, and with each division of the experts."""
    copies = data * layout.context
    if copies == 1:
        yield layout
        return
    shard = max(1, cluster.gpus_per_node // layout.tensor)
    for expert in _powers(min(data, demand.decoder.experts)):
        if data % expert or demand.decoder.experts % expert:
            continue
        for strategy in ("ddp", "zero1", "fsdp"):
            yield replace(layout, strategy=strategy, data=data, expert=expert)
        if 1 < shard < copies and not copies % shard and layout.pipeline == 1 and expert == 1:
            yield replace(layout, strategy="hsdp", data=data, shard=shard)


def works(demand: Demand, layout: Layout) -> Iterator[Work]:
    """Yield each division of a rank's sequences into micro-batches, without and with activation checkpointing.

    A pipeline has at least as many micro-batches as stages.
    """
    sequences = demand.batch // layout.data
    for batch in _powers(min(_MOST_BATCH, sequences)):
        if sequences % batch or sequences // batch < layout.pipeline:
            continue
        for recompute in (0.0, 1.0):
            yield replace(demand.work, batch=batch, accumulation=sequences // batch, recompute=recompute)


def _powers(most: int) -> list[int]:
    """Return the powers of two up to a number."""
    return [1 << each for each in range(most.bit_length()) if 1 << each <= most]
