"""A job to estimate: training or inference with all settings that change its memory, checked."""

from dataclasses import dataclass, field, fields

from headroom.memory.errors import EstimateError, one_of, whole
from headroom.memory.layouts import Layout
from headroom.memory.optimizers import optimizer
from headroom.memory.weight_formats import FORMATS

ADAPTERS = ("lora", "qlora", "dora")
TRAINING = ("full", *ADAPTERS)
INFERENCE = ("evaluate", "prefill", "decode")
_ALLOWED = {
    "job": (*TRAINING, *INFERENCE),
    "precision": ("bf16", "autocast", "mixed", "fp32"),
    "attention": ("auto", "sdpa", "eager", "flash"),
    "loss": ("whole", "chunked", "fused", "whole-upcast-copy", "whole-shift-copy"),
    "targets": ("all", "attention", "qv"),
    "cache": ("bf16", "fp32", "int8", "int4", "int2"),
    "quantization": ("auto", *FORMATS),
}
_MOST_TOKENS = 1 << 31
_TRAINED = ("nf4-double", "nf4")
"""Formats of frozen weights that adapters are trained on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What runs on the GPU.

    Attributes:
        job: ``full`` fine-tuning, ``lora``, ``qlora``, ``dora``, ``evaluate``, ``prefill`` or ``decode``.
        precision: ``bf16`` weights, ``autocast`` (fp32 weights, bf16 autocast), ``mixed`` (bf16 weights, bf16
            autocast) or ``fp32``.
        optimizer: the name of the Trainer's ``optim``, or ``muon``.
        batch: sequences per GPU and micro-batch.
        length: tokens per sequence; for ``decode`` the tokens in the KV cache.
        accumulation: micro-batches per optimizer step.
        no_sync: whether FSDP reduces gradients in the last micro-batch only. Each GPU then has whole gradients, in the
            type of the trained weights. The Trainer and Accelerate do so, with ``bf16`` in bf16.
        checkpointing: whether each layer is an activation checkpoint.
        attention: the attention implementation; ``auto`` is the first of sdpa, flash and eager that the family has.
        loss: ``whole`` logits, ``chunked`` with recomputation, ``fused`` (Liger), ``whole-upcast-copy``: whole logits
            as in transformers 4.48, which copied the fp32 logits to shift them, or ``whole-shift-copy``: the same
            without the bf16 logits, as in transformers 4.45.
        chunk: tokens of each sequence in one chunk of a chunked loss: a chunk has ``batch * chunk`` tokens.
        targets: the adapted layers: ``all`` linear layers, the projections of the ``attention``, or ``qv`` of them.
        rank: the rank of the adapters.
        cache: the data type of the KV cache.
        master_weights: whether the optimizer keeps an fp32 copy of the trained weights.
        quantization: the format of the linear weights of qlora and of inference. ``nf4-double`` is bitsandbytes' 4-bit
            format with quantized scales, ``nf4`` has fp32 scales. Inference also has ``int8`` (LLM.int8), ``fp8`` with
            a scale per block, and ``int4`` (AWQ and GPTQ). ``auto`` is ``nf4-double`` for qlora, and none otherwise.
        quantized_experts: whether bitsandbytes quantizes experts, which it does if each expert has linear layers.
        saved_inputs: whether 4-bit layers save their inputs for the backward pass, as bitsandbytes before 0.43.2 did.
        reentrant: whether activation checkpoints are reentrant, the default of transformers before 5.
        layout: the layout over GPUs.
    """

    job: str = "full"
    precision: str = "bf16"
    optimizer: str = "adamw_torch_fused"
    batch: int = 1
    length: int = 2048
    accumulation: int = 1
    no_sync: bool = False
    checkpointing: bool = False
    attention: str = "auto"
    loss: str = "whole"
    chunk: int = 512
    targets: str = "all"
    rank: int = 16
    cache: str = "bf16"
    master_weights: bool = False
    quantization: str = "auto"
    quantized_experts: bool = False
    saved_inputs: bool = False
    reentrant: bool = False
    layout: Layout = field(default_factory=Layout)

    def __post_init__(self) -> None:
        """Check each field, and that the fields are consistent."""
        for name, words in _ALLOWED.items():
            one_of(name, getattr(self, name), words)
        optimizer(self.optimizer)
        for each in fields(self):
            if each.type in (int, "int"):
                whole(each.name, getattr(self, each.name), most=_MOST_TOKENS)
        if self.job == "dora" and self.targets != "all":
            raise EstimateError("targets", f"is {self.targets} with {self.job}", "use all")
        if not self.training and (self.accumulation > 1 or self.checkpointing):
            name = "accumulation" if self.accumulation > 1 else "checkpointing"
            raise EstimateError(name, f"is set for the job {self.job}", "use it with a training job only")
        if self.no_sync and (self.accumulation == 1 or self.layout.strategy not in ("fsdp", "hsdp")):
            remedy = "use it with the strategy fsdp or hsdp, and an accumulation of 2 or more"
            raise EstimateError("no_sync", "is set without FSDP that accumulates", remedy)
        if self.job == "decode" and self.layout.context > 1:
            remedy = "it counts GPUs of context parallelism; give the tokens in the KV cache as length"
            raise EstimateError("context", f"is {self.layout.context} for the job decode", remedy)
        self._check_quantization()
        if self.reentrant and not self.checkpointing:
            raise EstimateError("reentrant", "is set without checkpointing", "use it with checkpointing only")

    def _check_quantization(self) -> None:
        """Check that the job has quantized weights, and in a format that it can have."""
        form, quantized = self.quantization, self.job in ("qlora", *INFERENCE)
        if form != "auto" and not quantized:
            raise EstimateError("quantization", f"is set for the job {self.job}", "use it with qlora or inference")
        if self.job == "qlora" and form not in ("auto", *_TRAINED):
            raise EstimateError("quantization", f"is {form} for the job qlora", f"use {' or '.join(_TRAINED)}")
        if self.saved_inputs and self.job != "qlora":
            raise EstimateError("saved_inputs", f"is set for the job {self.job}", "use it with qlora only")
        if self.quantized_experts and self.weight_format is None:
            remedy = "use it with qlora, or with a quantization"
            raise EstimateError("quantized_experts", f"is set for the job {self.job}", remedy)

    @property
    def weight_format(self) -> str | None:
        """Return the format of the quantized linear weights; None if they are not quantized."""
        if self.quantization != "auto":
            return self.quantization
        return _TRAINED[0] if self.job == "qlora" else None

    @property
    def training(self) -> bool:
        """Return whether the job has a backward pass and an optimizer step."""
        return self.job in TRAINING

    @property
    def adapted(self) -> bool:
        """Return whether only adapters are trained."""
        return self.job in ADAPTERS

    @property
    def width(self) -> int:
        """Return the bytes per element of a weight."""
        return 2 if self.precision in ("bf16", "mixed") else 4

    @property
    def trainable_width(self) -> int:
        """Return the bytes per element of a trained tensor; peft keeps adapters in fp32."""
        return 4 if self.adapted else self.width

    @property
    def compute_width(self) -> int:
        """Return the bytes per element of a matmul's operands."""
        return 4 if self.precision == "fp32" else 2

    @property
    def variant(self) -> str:
        """Return the key of the recorded polynomials, with ``{}`` for the attention if that is ``auto``.

        FSDP casts shards itself, so its layers are those of bf16.
        """
        attention = "{}" if self.attention == "auto" else self.attention
        precision = "bf16" if self.precision == "autocast" and self.layout.weight_shards > 1 else self.precision
        job = f"{self.job}-{self.targets}" if self.adapted else self.job
        return f"{precision} {attention} {job}" + (" checkpointed" if self.checkpointing else "")

    @property
    def inputs_persist(self) -> bool:
        """Return whether the inputs of frozen layers, and their gradients, exist until the backward pass ends.

        FSDP reshards a frozen unit in a hook on all gradients of its inputs, and holds this hook until the backward
        pass has ended. The hook refers to the input itself if that is a leaf, as within a reentrant checkpoint.

        Sources: https://github.com/pytorch/pytorch/blob/38b96d3399a695e704ed39b60dac733c3fbf20e2/
        torch/distributed/fsdp/_runtime_utils.py, ``_register_post_backward_reshard_only_hook``, and
        torch/autograd/graph.py, ``register_multi_grad_hook``.
        """
        return self.reentrant and self.adapted and self.layout.strategy in ("fsdp", "hsdp") and self.layout.gpus > 1

    @property
    def gradients_persist(self) -> bool:
        """Return whether all gradients exist from the first micro-batch on."""
        layout = self.layout
        return self.accumulation > 1 or (layout.strategy == "ddp" and layout.gradient_as_bucket_view)
