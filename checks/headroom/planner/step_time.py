"""The step time of a training run: compute, exposed communication, pipeline bubble and optimizer step."""

from dataclasses import dataclass, fields
from math import log2

from headroom.memory.layouts import Layout
from headroom.planner.cluster import Cluster
from headroom.planner.decoder import Decoder

WIDTH = 2
"""Bytes per element of activations and of gathered weights."""
LOSS_BYTES = 20
"""Bytes read and written per logit: the logits, their fp32 copy, the softmax and the gradient."""
OPTIMIZER_BYTES = 30
"""Bytes read and written per parameter: AdamW with fp32 weights, gradients and two states, and a bf16 copy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The fitted constants of the step-time model.

    Attributes:
        matmul: the part of the best measured matmul rate that a layer's matmuls reach.
        attention: the part of the bf16 rate that the matmuls of causal attention reach.
        eager: tensors of hidden size that a layer's forward pass reads or writes besides its matmuls, per token.
        fused: the same with torch.compile or fused kernels.
        link: the part of a link's bandwidth that a collective reaches.
        overlap: the part of the communication of data and context parallelism that runs next to compute.
        tensor_overlap: the same for tensor parallelism with a method that overlaps it.
        straggling: the part by which the step is longer with each doubling of the nodes.
    """

    matmul: float
    attention: float
    eager: float
    fused: float
    link: float
    overlap: float
    tensor_overlap: float
    straggling: float


CONSTANTS = tuple(each.name for each in fields(Constants))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one optimizer step does, apart from its layout.

    Attributes:
        length: tokens per sequence.
        batch: sequences per data-parallel rank and micro-batch.
        accumulation: micro-batches per step.
        precision: the format of the layers' matmuls, ``bf16`` or ``fp8``.
        recompute: the part of the layers' forward pass that runs again in the backward pass.
        kernels: ``eager`` or ``fused``.
        gradient_bytes: bytes per element of reduced gradients.
        interleave: model chunks per pipeline rank.
        tensor_overlap: whether communication of tensor parallelism runs next to matmuls.
    """

    length: int
    batch: int = 1
    accumulation: int = 1
    precision: str = "bf16"
    recompute: float = 0.0
    kernels: str = "fused"
    gradient_bytes: int = 4
    interleave: int = 1
    tensor_overlap: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """The parts of a step, in seconds.

    Attributes:
        matmul: matmuls of layers and LM head.
        attention: the matmuls of attention's scores.
        elementwise: everything in layers and loss that memory bandwidth bounds.
        data: exposed communication of data and context parallelism.
        tensor: exposed communication of tensor and expert parallelism.
        bubble: idle time of pipeline ranks, and their exchange of activations.
        optimizer: the optimizer step.
        straggling: waiting for the slowest node.
        tokens: tokens per step over all GPUs.
        gpus: the number of GPUs.
        sent: bytes that a GPU sends per step.
    """

    matmul: float
    attention: float
    elementwise: float
    data: float
    tensor: float
    bubble: float
    optimizer: float
    straggling: float
    tokens: int
    gpus: int
    sent: float

    @property
    def compute(self) -> float:
        """Return the seconds in which the GPU computes for the layers and the loss."""
        return self.matmul + self.attention + self.elementwise

    @property
    def communication(self) -> float:
        """Return the seconds of exposed communication."""
        return self.data + self.tensor

    @property
    def seconds(self) -> float:
        """Return the step time."""
        return self.compute + self.communication + self.bubble + self.optimizer + self.straggling

    @property
    def rate(self) -> float:
        """Return tokens per second and GPU."""
        return self.tokens / self.seconds / self.gpus


def bubble_fraction(pipeline: int, micro_batches: int, interleave: int = 1) -> float:
    """Return the idle time of a pipeline rank as a part of its compute: (p - 1) / (v m)."""
    return (pipeline - 1) / (interleave * micro_batches)


def step_time(decoder: Decoder, work: Work, layout: Layout, cluster: Cluster, constants: Constants) -> StepTime:
    """Return the step time of a layout on a cluster.

    The layout's fields must fit the cluster: ``layout.gpus`` is the number of GPUs that run.
    """
    matmul, attention, elementwise = _compute(decoder, work, layout, cluster, constants)
    inner, inner_sent = _inside_layers(decoder, work, layout, cluster, constants)
    compute = matmul + attention + elementwise
    outer, outer_sent = _between_copies(decoder, work, layout, cluster, constants)
    data = max((1 - constants.overlap) * outer, outer - compute)
    bubble = bubble_fraction(layout.pipeline, work.accumulation, work.interleave) * (compute + inner)
    optimizer = OPTIMIZER_BYTES * _local_parameters(decoder, layout) / layout.state_shards / cluster.memory
    parts = compute + inner + data + bubble + optimizer
    return StepTime(
        matmul=matmul,
        attention=attention,
        elementwise=elementwise,
        data=data,
        tensor=inner,
        bubble=bubble,
        optimizer=optimizer,
        straggling=parts * constants.straggling * log2(cluster.nodes),
        tokens=work.length * work.batch * work.accumulation * layout.data,
        gpus=layout.gpus,
        sent=inner_sent + outer_sent,
    )


def _rank_tokens(work: Work, layout: Layout) -> float:
    """Return the tokens of a rank in one micro-batch."""
    return work.length * work.batch / layout.context


def _compute(
    decoder: Decoder, work: Work, layout: Layout, cluster: Cluster, constants: Constants
) -> tuple[float, float, float]:
    """Return the seconds per step of matmuls, of attention's scores, and of element-wise operations."""
    tokens = _rank_tokens(work, layout) * work.accumulation / layout.tensor
    layers, passes = decoder.layers / layout.pipeline, 3 + work.recompute
    head = 6 * decoder.hidden * decoder.vocabulary / layout.pipeline
    bf16 = cluster.rates["bf16"]
    rate = cluster.rates[work.precision]
    matmul = tokens * (2 * passes * layers * decoder.active_parameters / rate + head / bf16) / constants.matmul
    scores = passes * layers * decoder.score_flops(work.length)
    tensors = constants.eager if work.kernels == "eager" else constants.fused
    moved = passes * layers * tensors * WIDTH * decoder.hidden + LOSS_BYTES * decoder.vocabulary / layout.pipeline
    return matmul, tokens * scores / bf16 / constants.attention, tokens * moved / cluster.memory


def _inside_layers(
    decoder: Decoder, work: Work, layout: Layout, cluster: Cluster, constants: Constants
) -> tuple[float, float]:
    """Return the exposed seconds and the bytes per step of tensor parallelism, some of it hidden, and of experts."""
    layers = decoder.layers / layout.pipeline * work.accumulation
    size = _rank_tokens(work, layout) * WIDTH * decoder.hidden
    passes = 2 + work.recompute
    tensor = layers * passes * 4 * size * (1 - 1 / layout.tensor)
    expert = layers * passes * 2 * size / layout.tensor * decoder.active * (1 - 1 / layout.expert)
    share = 1 - constants.tensor_overlap if work.tensor_overlap else 1.0
    rates = (cluster.bandwidth(layout.tensor, 1), cluster.bandwidth(layout.expert, layout.tensor))
    return (tensor * share / rates[0] + expert / rates[1]) / constants.link, tensor + expert


def _local_parameters(decoder: Decoder, layout: Layout) -> float:
    """Return the parameters of one copy that a rank has after tensor, pipeline and expert parallelism."""
    experts = decoder.layers * decoder.experts * decoder.expert_parameters
    return ((decoder.parameters - experts) + experts / layout.expert) / layout.tensor / layout.pipeline


def _between_copies(
    decoder: Decoder, work: Work, layout: Layout, cluster: Cluster, constants: Constants
) -> tuple[float, float]:
    """Return the seconds and bytes per step of data, context and pipeline parallelism, before any overlap."""
    ring, stride = layout.copies, layout.tensor
    parameters = _local_parameters(decoder, layout)
    groups: list[tuple[float, int, int]] = []
    if layout.strategy in ("fsdp", "zero3", "hsdp"):
        shards = layout.shards
        each = parameters * (1 - 1 / shards) * (2 * WIDTH + work.gradient_bytes) * work.accumulation
        copies = ring // shards
        groups.append((each, shards, stride))
        again = 2 * parameters / shards * work.gradient_bytes * (1 - 1 / copies)
        groups.append((again, copies, stride * shards))
    else:
        again = WIDTH if layout.strategy in ("zero1", "zero2") else work.gradient_bytes
        groups.append((parameters * (1 - 1 / ring) * (work.gradient_bytes + again), ring, stride))
    groups += _exchanges(decoder, work, layout)
    seconds = sum(size / cluster.bandwidth(members, apart) for size, members, apart in groups) / constants.link
    return seconds, sum(size for size, _, _ in groups)


def _exchanges(decoder: Decoder, work: Work, layout: Layout) -> list[tuple[float, int, int]]:
    """Return the bytes per step of context and pipeline parallelism, each with a group's GPUs and their stride."""
    layers = decoder.layers / layout.pipeline * work.accumulation
    tokens = _rank_tokens(work, layout)
    keys = 2 * decoder.key_value_heads * decoder.head * WIDTH * tokens / layout.tensor
    passes = 3 + work.recompute
    stages = 2 * WIDTH * decoder.hidden * tokens / layout.tensor * work.accumulation * work.interleave
    outer = layout.gpus // layout.pipeline
    return [
        (layers * passes * keys * (layout.context - 1), layout.context, layout.tensor),
        (stages if layout.pipeline > 1 else 0.0, layout.pipeline, outer),
    ]
