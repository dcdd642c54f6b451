"""Bytes of a model's tensors: base weights in any precision or quantized, and adapters, with CUDA's rounding."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.job import Job
from headroom.memory.polynomials import whole
from headroom.memory.weight_formats import CHECKPOINTS, allocated, four_bit, quantized_bytes
from headroom.records.memory_coefficients import CoefficientTensor

QUERY_AND_VALUE = (
    "q_proj",
    "v_proj",
    "query",
    "value",
    "q_lin",
    "v_lin",
    "c_attn",
    "qkv_proj",
    "query_key_value",
    "Wqkv",
)
ATTENTION = (*QUERY_AND_VALUE, "k_proj", "o_proj")
OUTSIDE = "outside"
_TARGETS = {"attention": ATTENTION, "qv": QUERY_AND_VALUE}
_ADAPTED_EXPERTS = ("deepseek_v3", "mixtral", "olmoe", "qwen2_moe", "qwen3_moe")
_ATTENTION_AND_EXPERTS = ("deepseek_v3",)
"""Families of which peft adapts the attention, the router and the experts, and no dense or shared MLP."""
_SHARED_INPUT = {
    **dict.fromkeys(("q_proj", "k_proj", "v_proj"), "attention"),
    **dict.fromkeys(("gate_proj", "up_proj"), "MLP"),
    "down_proj": "product",
}
"""The input of each linear layer of a Llama, by the name of the layer."""
_CONV1D = ("gpt2",)
"""Families whose linear weights are stored with the input size first."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor on one GPU: its sizes there, its kind, its bytes with CUDA's rounding, and whether it is quantized."""

    name: str
    shape: tuple[int, ...]
    kind: str
    bytes: int
    quantized: bool = False

    @property
    def elements(self) -> int:
        """Return the number of elements."""
        return prod(self.shape)


def base_tensors(architecture: Architecture, symbols: Mapping[str, int], job: Job, group: str) -> tuple[Tensor, ...]:
    """Return the base weights of one layer of a kind, or those ``outside`` of the layers.

    Args:
        architecture: the model's shape.
        symbols: the symbols of one GPU.
        job: the job.
        group: the kind of layer, or ``outside``.
    """
    listed = architecture.coefficients.weights.get(group, ())
    kept = [each for each in listed if not (architecture.tied and each.kind == "head")]
    transposed = architecture.coefficients.family in _CONV1D
    return tuple(_base(each, symbols, job, group, transposed=transposed) for each in kept)


def _base(tensor: CoefficientTensor, symbols: Mapping[str, int], job: Job, group: str, *, transposed: bool) -> Tensor:
    shape = _local_shape(tensor, symbols, job)
    if transposed and tensor.kind == "linear":
        shape = shape[::-1]
    elements = prod(shape)
    kind = "embedding" if group == OUTSIDE and tensor.kind == "linear" and "V" in tensor.shape else tensor.kind
    size = _quantized(tensor.name, kind, shape, job) if group != OUTSIDE else None
    plain = allocated(job.width * elements)
    return Tensor(tensor.name, shape, kind, plain if size is None else size, quantized=size is not None)


def _quantized(name: str, kind: str, shape: tuple[int, ...], job: Job) -> int | None:
    """Return the bytes of a quantized weight, or None if it is not quantized."""
    form = job.weight_format
    experts = kind == "expert" and (job.quantized_experts or form in CHECKPOINTS)
    if form is None or not (kind == "linear" or experts):
        return None
    if experts and form.startswith("nf4"):
        return _four_bit_experts(name, shape, form)
    return quantized_bytes(shape, form)


def _four_bit_experts(name: str, shape: tuple[int, ...], form: str) -> int:
    """Return the bytes of 4-bit experts; a tensor of all experts stands for the linear layers of each."""
    count = prod(shape[:-2]) * (2 if name.endswith("gate_up_proj") else 1)
    return count * four_bit(prod(shape) // count, double=form == "nf4-double")


def saved_input_widths(base: Iterable[Tensor]) -> int:
    """Return the elements per token of the inputs of one layer's linear weights that nothing else has saved.

    Layers with the same input share it, and the attention has saved its output, the input of ``o_proj``.

    Raises:
        EstimateError: the layer has other weights than a Llama's.
    """
    inputs = {}
    for each in base:
        module = _module(each.name)
        if each.kind == "linear" and module not in (*_SHARED_INPUT, "o_proj"):
            raise EstimateError("saved_inputs", f"is not known for the layer {each.name}", "leave it out")
        if module in _SHARED_INPUT:
            inputs[_SHARED_INPUT[module]] = each.shape[-1]
    return sum(inputs.values())


def _local_shape(tensor: CoefficientTensor, symbols: Mapping[str, int], job: Job) -> tuple[int, ...]:
    """Return a tensor's sizes on one GPU; the first size of an expert tensor is the number of experts."""
    shape = tuple(whole(size, symbols) for size in tensor.shape)
    if tensor.kind != "expert" or job.layout.expert == 1:
        return shape
    if shape[0] % job.layout.expert:
        raise EstimateError("expert", f"{job.layout.expert} does not divide {shape[0]} experts", "use a divisor of it")
    return (shape[0] // job.layout.expert, *shape[1:])


def adapter_tensors(base: Iterable[Tensor], job: Job, family: str = "") -> tuple[Tensor, ...]:
    """Return the adapters of one layer's linear weights: fp32 matrices A and B, and DoRA's magnitude.

    Sources: https://github.com/huggingface/peft/blob/1f217382804628c8affc415d9dd3ab67b6d9ceb6/src/peft/mapping_func.py,
    ``autocast_adapter_dtype`` of ``get_peft_model``; for experts, ``_MOE_TARGET_MODULE_MAPPING`` of
    ``peft/utils/transformers_weight_conversion.py`` in peft 0.21.

    Args:
        base: the layer's weights.
        job: the job.
        family: the ``model_type``; in a few, ``all`` includes the router and the experts.
    """
    if not job.adapted:
        return ()
    wanted = (each for each in base if _adapted(each, job, family))
    shapes = ((each, name, shape) for each in wanted for name, shape in _adapter_shapes(each, job).items())
    return tuple(
        Tensor(f"{each.name.removesuffix('.weight')}.{name}.weight", shape, "adapter", _adapter_bytes(shape, job))
        for each, name, shape in shapes
    )


def _adapted(tensor: Tensor, job: Job, family: str) -> bool:
    """Return whether a weight gets an adapter."""
    if job.targets == "all" and family in _ADAPTED_EXPERTS:
        left_out = family in _ATTENTION_AND_EXPERTS and tensor.kind == "linear" and tensor.name.startswith("mlp.")
        return (tensor.kind in ("linear", "expert") or _module(tensor.name) == "gate") and not left_out
    return tensor.kind == "linear" and (job.targets == "all" or _module(tensor.name) in _TARGETS[job.targets])


def _adapter_bytes(shape: tuple[int, ...], job: Job) -> int:
    return allocated(job.trainable_width * prod(shape))


def _adapter_shapes(tensor: Tensor, job: Job) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a weight's adapter; fused gate and up projections of experts have twice the rank."""
    *experts, wide, narrow = tensor.shape
    rank = prod(experts) * job.rank * (2 if experts and tensor.name.endswith("gate_up_proj") else 1)
    shapes: dict[str, tuple[int, ...]] = {"lora_A": (rank, narrow), "lora_B": (wide, rank)}
    return shapes | ({"lora_magnitude_vector": (wide, 1)} if job.job == "dora" else {})


def _module(name: str) -> str:
    return name.removesuffix(".weight").rpartition(".")[2]


def parameters(architecture: Architecture) -> int:
    """Return the model's number of parameters."""
    symbols = architecture.with_derived(architecture.symbols)
    groups = [*architecture.kinds, OUTSIDE]
    counts = {
        group: sum(each.elements for each in base_tensors(architecture, symbols, Job(), group)) for group in {*groups}
    }
    return sum(counts[group] for group in groups)
