"""How a job is laid out over GPUs, and what one GPU then holds: DDP, ZeRO, FSDP, TP, SP, PP, CP, EP, CPU offload."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from headroom.memory.errors import EstimateError, one_of, whole

STRATEGIES = ("none", "ddp", "zero1", "zero2", "zero3", "fsdp", "hsdp")
OFFLOADS = ("none", "optimizer", "all")
_STATES, _GRADIENTS, _WEIGHTS = STRATEGIES[2:], STRATEGIES[3:], STRATEGIES[4:]
_DIVIDED = ("a", "f", "m", "fs")  # heads, and the intermediate sizes of MLPs, experts and shared experts
MOST_GPUS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The parallelism of a job. The number of GPUs is data × tensor × pipeline × context.

    Attributes:
        strategy: what data-parallel GPUs divide: nothing (``ddp``), optimizer states (``zero1``), also gradients
            (``zero2``), also weights (``zero3``, ``fsdp``, ``hsdp``).
        data: GPUs with different batches.
        shard: for ``hsdp``, the GPUs that divide one copy of the weights.
        tensor: GPUs that divide each layer's heads and MLP.
        sequence_parallel: whether norms and residuals are divided by ``tensor`` along the sequence.
        loss_parallel: whether the vocabulary of embedding, LM head and logits is divided by ``tensor``.
        pipeline: GPUs that divide the layers.
        context: GPUs that divide each sequence.
        expert: GPUs that divide the experts, out of the data-parallel ones.
        offload: what is in CPU memory: ``optimizer`` states, or ``all`` (weights, gradients and states).
        gradient_as_bucket_view: whether DDP's gradients share the memory of its buckets.
    """

    strategy: str = "none"
    data: int = 1
    shard: int = 1
    tensor: int = 1
    sequence_parallel: bool = False
    loss_parallel: bool = False
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    offload: str = "none"
    gradient_as_bucket_view: bool = False

    def __post_init__(self) -> None:
        """Check each field, and that the fields are consistent."""
        one_of("strategy", self.strategy, STRATEGIES)
        one_of("offload", self.offload, OFFLOADS)
        for field in fields(self):
            if field.type in (int, "int"):
                whole(field.name, getattr(self, field.name), most=MOST_GPUS)
        if self.data > 1 and self.strategy == "none":
            raise EstimateError("strategy", f"is none with {self.data} data-parallel GPUs", "use ddp, zero1 … or fsdp")
        if self.gradient_as_bucket_view and self.strategy != "ddp":
            raise EstimateError(
                "gradient_as_bucket_view", f"is set with the strategy {self.strategy}", "use it with ddp"
            )
        if self.offload == "all" and self.strategy not in _WEIGHTS:
            raise EstimateError("offload", f"is all with the strategy {self.strategy}", "use zero3, fsdp or hsdp")
        if self.strategy == "hsdp" and self.shard == 1 < self.copies:
            raise EstimateError(
                "shard", "is 1 with hsdp", "give the GPUs that divide one copy of the weights, or use ddp"
            )
        if self.strategy == "hsdp" and self.copies % self.shard:
            raise EstimateError("shard", f"is {self.shard}", f"use a divisor of data × context, {self.copies}")
        if self.data % self.expert:
            raise EstimateError("expert", f"is {self.expert}", f"use a divisor of data, {self.data}")
        if (self.sequence_parallel or self.loss_parallel) and self.tensor == 1:
            raise EstimateError("tensor", "is 1", "use at least 2 with sequence_parallel or loss_parallel")

    @property
    def gpus(self) -> int:
        """Return the number of GPUs."""
        return self.data * self.tensor * self.pipeline * self.context

    @property
    def copies(self) -> int:
        """Return the number of GPUs with the same parameters: those of data and of context parallelism."""
        return self.data * self.context

    @property
    def shards(self) -> int:
        """Return the number of GPUs that divide states, and by strategy gradients and weights."""
        return self.shard if self.strategy == "hsdp" else self.copies

    def expert_shards(self, shards: int) -> int:
        """Return the GPUs that divide an expert's tensor, if so many divide other tensors: those with its copies."""
        return max(1, shards // self.expert)

    @property
    def weight_shards(self) -> int:
        """Return the number of GPUs that divide the weights."""
        return self.shards if self.strategy in _WEIGHTS else 1

    @property
    def gradient_shards(self) -> int:
        """Return the number of GPUs that divide the gradients."""
        return self.shards if self.strategy in _GRADIENTS else 1

    @property
    def state_shards(self) -> int:
        """Return the number of GPUs that divide the optimizer states."""
        return self.shards if self.strategy in _STATES else 1


def local_symbols(symbols: Mapping[str, int], layout: Layout) -> dict[str, int]:
    """Return the symbols of one GPU's part of each layer.

    Raises:
        EstimateError: tensor parallelism does not divide the heads or an intermediate size, or context parallelism
            does not divide the sequence.
    """
    found = dict(symbols)
    for name in _DIVIDED:
        if name in found:
            found[name] = _divided(found[name], layout.tensor, "tensor", name)
    if "kv" in found:
        found["kv"] = _key_value_heads(found["kv"], layout.tensor)
    if layout.loss_parallel:
        found["V"] = -(-found["V"] // layout.tensor)
    found["S"] = _divided(found["S"], layout.context, "context", "S")
    found["K"] = min(found["K"], found["S"])
    return found


_MEANING = {
    "a": "num_attention_heads",
    "f": "intermediate_size",
    "m": "moe_intermediate_size",
    "fs": "the shared experts' intermediate size",
    "S": "length",
}


def _divided(size: int, by: int, field: str, symbol: str) -> int:
    if size % by:
        raise EstimateError(field, f"{by} does not divide {_MEANING[symbol]}, {size}", "use a divisor of it")
    return size // by


def _key_value_heads(heads: int, tensor: int) -> int:
    """Return the key-value heads of one GPU; with more GPUs than heads, each head is replicated."""
    if heads % tensor and tensor % heads:
        raise EstimateError("tensor", f"{tensor} does not divide num_key_value_heads, {heads}", "use a divisor of it")
    return max(1, heads // tensor)
