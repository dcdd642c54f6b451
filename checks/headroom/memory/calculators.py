"""The memory calculators that people use today, each by its published formula.

Every calculator takes the same ``CalculatorJob`` and returns bytes of one device, or None for a job that it does not
model. Nothing is corrected: the errors of a formula are what comparisons show.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_ACCELERATE = "https://github.com/huggingface/accelerate/blob/16cb6eb80dd9aa8b4df1a63ef57863e455d53b83/"
_COOKBOOK = "https://github.com/EleutherAI/cookbook/blob/827ee3b293a63f14403f1467d08c91fda213f4e6/"
_DEEPSPEED = "https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/"
_TRANSFORMERS = "https://github.com/huggingface/transformers/blob/0016acf7ef421c7fe8eff7945de52c71896c3b01/"
_INFERENCE = ("evaluate", "prefill", "decode")
_COUNTS = (
    *("parameters", "hidden", "layers", "heads", "key_value_heads", "intermediate", "vocabulary", "mlp_linears"),
    *("batch", "length", "new_tokens", "ranks", "tensor_ranks", "pipeline_ranks"),
)
_BYTES = {"fp32": 4.0, "autocast": 4.0, "bf16": 2.0, "fp16": 2.0, "int8": 1.0, "nf4": 0.5}


@dataclass(frozen=True, slots=True)
class CalculatorJob:
    """What the calculators ask for.

    Raises:
        ValueError: a count is below 1, or the tensor and pipeline ranks do not divide the ranks.
    """

    parameters: int
    """All parameters of the model, shared ones once."""
    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    intermediate: int
    vocabulary: int
    mlp_linears: int = 3
    """Linear layers per MLP: 3 with a gate, 2 without."""
    kind: Literal["full", "lora", "qlora", "dora", "evaluate", "prefill", "decode"] = "full"
    precision: Literal["bf16", "fp16", "autocast", "fp32"] = "bf16"
    weights: Literal["int8", "nf4"] | None = None
    """The format of quantized weights; None for the weights of ``precision``."""
    batch: int = 1
    """Sequences per device."""
    length: int = 1
    new_tokens: int = 1
    """Generated tokens, for decoding."""
    ranks: int = 1
    tensor_ranks: int = 1
    pipeline_ranks: int = 1
    zero_stage: Literal[0, 1, 2, 3] = 0
    """3 also for FSDP, which shards the same."""
    checkpointing: bool = False
    optimizer: str = "adamw"

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` is {getattr(self, name)}; give a whole number of at least 1")
        if self.ranks % (self.tensor_ranks * self.pipeline_ranks):
            raise ValueError(
                f"`ranks` is {self.ranks}, which tensor_ranks × pipeline_ranks = "
                f"{self.tensor_ranks * self.pipeline_ranks} does not divide; change one of them"
            )

    @property
    def inference(self) -> bool:
        """Return whether the job has no backward pass."""
        return self.kind in _INFERENCE

    @property
    def weight_bytes(self) -> float:
        """Return the bytes of all weights in the format of the job."""
        return self.parameters * _BYTES[self.weights or self.precision]


def accelerate_training(job: CalculatorJob) -> int | None:
    """Return the peak of accelerate's ``estimate_training_usage``: full training with Adam, batch size 1, one device.

    It is the largest of model, gradients, optimizer and step, of the model's size in fp32.
    """
    if job.kind != "full" or job.ranks > 1 or job.optimizer != "adamw":
        return None
    return job.parameters * 4 * (4 if job.precision == "fp32" else 2)


def inference_with_overhead(job: CalculatorJob) -> int | None:
    """Return the weights × 1.2, the rule of thumb for inference."""
    return int(job.weight_bytes * 1.2) if job.inference and job.ranks == 1 else None


def model_memory_usage(job: CalculatorJob) -> int | None:
    """Return the answer of Hugging Face's Model Memory Usage page.

    For training, it calls accelerate's function. For inference, it prints the size of the weights and says that up
    to 20 % come on top; the size is returned.
    """
    if job.inference:
        return int(job.weight_bytes) if job.ranks == 1 else None
    return accelerate_training(job)


def deepspeed_zero2(job: CalculatorJob) -> int | None:
    """Return the GPU memory of DeepSpeed's ``estimate_zero2_model_states_mem_needs`` without offloading."""
    if not _deepspeed(job) or job.zero_stage not in (0, 2):  # one rank: stage 2 shards nothing
        return None
    return 2 * job.parameters + int(18 * job.parameters / job.ranks)


def deepspeed_zero3(job: CalculatorJob) -> int | None:
    """Return the GPU memory of DeepSpeed's ``estimate_zero3_model_states_mem_needs`` without offloading.

    Its largest layer is the module with the most parameters of its own: the embedding.
    """
    if not _deepspeed(job) or job.zero_stage != 3:  # noqa: PLR2004 - a stage of ZeRO
        return None
    return 4 * job.vocabulary * job.hidden + int(18 * job.parameters / job.ranks)


def _deepspeed(job: CalculatorJob) -> bool:
    alone = job.tensor_ranks == job.pipeline_ranks == 1
    sharded = job.zero_stage > 0 or job.ranks == 1
    return job.kind == "full" and job.optimizer == "adamw" and alone and sharded


def bytes_per_parameter(factor: int) -> Callable[[CalculatorJob], int | None]:
    """Return a calculator of a fixed number of bytes per parameter, divided by the ranks if ZeRO 3 shards them."""

    def calculate(job: CalculatorJob) -> int | None:
        if job.kind != "full" or job.optimizer != "adamw" or job.zero_stage in (1, 2):
            return None
        shards = job.ranks if job.zero_stage else job.tensor_ranks * job.pipeline_ranks
        return job.parameters * factor // shards

    return calculate


def cookbook(job: CalculatorJob) -> int | None:
    """Return the memory per GPU of the EleutherAI cookbook's ``calc_transformer_mem``, with its own parameter count.

    Its mixed precision is AdamW with fp32 master weights; jobs with adapters, quantized weights or other
    optimizers than AdamW, SGD with momentum and Muon have no option.
    """
    states = {"adamw": 12, "sgd": 8, "muon": 8}.get(job.optimizer)
    if job.kind in ("lora", "qlora", "dora") or job.weights or states is None:
        return None
    count = _cookbook_parameters(job)
    width = 4 if job.precision == "fp32" else 2
    model = count * width / (job.tensor_ranks * job.pipeline_ranks) / (job.ranks if job.zero_stage == 3 else 1)  # noqa: PLR2004
    tokens = job.batch * job.length
    if job.inference:
        cache = 2 * job.hidden * job.layers * (job.length + job.new_tokens) * job.batch
        return int(model + 34 * tokens * job.hidden + cache)
    gradients = 4 * count / (job.ranks if job.zero_stage > 1 else 1)
    optimizer = states * count / (job.ranks if job.zero_stage else 1)
    return int(model + gradients + optimizer + _cookbook_buffers(job, width) + _cookbook_activations(job, tokens))


def _cookbook_parameters(job: CalculatorJob) -> float:
    """Return the script's parameter count: untied embeddings, learned positions, biases of LayerNorm."""
    square = job.hidden * job.hidden
    attention = int(2 * (1 + job.key_value_heads / job.heads) * job.layers * square)
    mlp = job.mlp_linears * job.layers * job.hidden * (job.intermediate / job.hidden) * job.hidden
    norms = 8 * job.hidden * job.layers + 2 * job.hidden
    return 2 * job.vocabulary * job.hidden + job.hidden * job.length + norms + attention + mlp


def _cookbook_buffers(job: CalculatorJob, width: int) -> float:
    """Return the script's communication buffers, with its default sizes."""
    if job.ranks == 1 or not job.zero_stage:
        return 0.0
    return 5e8 * width + (1e9 * width if job.zero_stage == 3 else 0)  # noqa: PLR2004


def _cookbook_activations(job: CalculatorJob, tokens: int) -> float:
    """Return the script's saved activations: 34 bytes per token, layer and hidden unit, and 5 per attention score."""
    saved = 34 * tokens * job.hidden * job.layers
    return saved if job.checkpointing else saved + 5.0 * tokens * job.layers * job.heads * job.length


@dataclass(frozen=True, slots=True)
class Calculator:
    """A calculator with the place of its formula."""

    title: str
    url: str
    locator: str
    bytes: Callable[[CalculatorJob], int | None]
    """Return the bytes of one device, or None for a job that the calculator does not model."""


CALCULATORS: dict[str, Calculator] = {
    "accelerate": Calculator(
        "accelerate estimate-memory",
        f"{_ACCELERATE}src/accelerate/commands/estimate.py",
        "lines 224 to 254, estimate_training_usage, and its maximum in estimate_command",
        accelerate_training,
    ),
    "model-memory-usage": Calculator(
        "Hugging Face Model Memory Usage",
        f"{_ACCELERATE}docs/source/usage_guides/model_size_estimator.md",
        "sections on the demo and on caveats",
        model_memory_usage,
    ),
    "cookbook": Calculator(
        "EleutherAI cookbook",
        f"{_COOKBOOK}calc/calc_transformer_mem.py",
        "lines 259 to 388, calc_mem",
        cookbook,
    ),
    "deepspeed-zero-2": Calculator(
        "DeepSpeed ZeRO-2 estimator",
        f"{_DEEPSPEED}deepspeed/runtime/zero/stage_1_and_2.py",
        "line 3081, estimate_zero2_model_states_mem_needs",
        deepspeed_zero2,
    ),
    "deepspeed-zero-3": Calculator(
        "DeepSpeed ZeRO-3 estimator",
        f"{_DEEPSPEED}deepspeed/runtime/zero/stage3.py",
        "line 3744, estimate_zero3_model_states_mem_needs",
        deepspeed_zero3,
    ),
    "16-bytes": Calculator(
        "16 bytes per parameter", "https://arxiv.org/abs/1910.02054", "section 3.1, K = 12", bytes_per_parameter(16)
    ),
    "18-bytes": Calculator(
        "18 bytes per parameter",
        f"{_TRANSFORMERS}docs/source/en/perf_train_gpu_one.mdx",
        "section Anatomy of Model's Memory",
        bytes_per_parameter(18),
    ),
    "20-bytes": Calculator(
        "20 bytes per parameter",
        f"{_DEEPSPEED}deepspeed/runtime/zero/stage_1_and_2.py",
        "line 3081, the sum for one GPU",
        bytes_per_parameter(20),
    ),
    "weights-times-1.2": Calculator(
        "weights × 1.2",
        f"{_ACCELERATE}docs/source/usage_guides/model_size_estimator.md",
        "line 136, up to an additional 20%",
        inference_with_overhead,
    ),
}
"""The calculators by name, in the order of tables."""
