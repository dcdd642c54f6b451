"""Build a transformers model without data, for the job that is traced."""

import inspect
import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
import transformers
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.modeling_layers import GradientCheckpointingLayer

from headroom.memory.tracing.cuda_choices import flash_attention_forward

FLASH = "headroom_fused"  # a name with "flash" would be looked up on a hub
_FALLBACK = r'use_kernel_func_from_hub_with_fallback\("([^"]+)", "([^"]+)"'
_TOWERS = ("visual", "vision_tower")
TARGETS: dict[str, Any] = {
    "qv": ["q_proj", "v_proj"],
    "attention": ["q_proj", "k_proj", "v_proj", "o_proj"],
    "all": "all-linear",
}


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What is traced: ``job`` is full, evaluate, prefill, decode, or lora, qlora, dora with -all, -attention or -qv."""

    job: str = "full"
    precision: str = "bf16"
    """``bf16``, ``autocast`` (fp32 weights), ``mixed`` (bf16 weights under bf16 autocast) or ``fp32``."""
    attention: str = "sdpa"
    """``sdpa``, ``eager``, ``flash`` (the flash-attn library), or ``auto``: the one that transformers chooses."""
    checkpointed: bool = False
    batch: int = 1
    length: int = 2048
    context: int = 0
    """Tokens in the cache before a decode step."""
    rank: int = 16
    accumulation: int = 1
    loss_chunk: int = 0
    """Tokens of a sequence per chunk of the LM head and the loss; 0 computes them at once."""
    optimizer: str = "adamw_torch"
    four_bit: bool = False
    """Whether the linear layers of an inference have bitsandbytes' 4-bit weights; qlora always has them."""
    images: int = 0
    """Images in each sequence of a vision-language model; their tokens are part of the length."""
    image_size: tuple[int, int] | None = None
    """Width and height of each image in pixels, where the model takes images of any size."""
    freeze_tower: bool = False
    """Whether the vision tower is not trained: its weights have no gradients, and it has no adapters."""
    input_gradients: bool = True
    """Whether checkpointing makes the embeddings of text and images require gradients, as transformers does."""
    device: str = "cuda"
    """``cuda`` for the saved tensors of CUDA's kernels, ``cpu`` for those of this CPU's."""

    @property
    def trains(self) -> bool:
        """Return whether the job has a backward pass."""
        return self.job not in ("evaluate", "prefill", "decode")

    @property
    def autocast(self) -> bool:
        """Return whether operations run under bf16 autocast."""
        return self.precision in ("autocast", "mixed")

    @property
    def weight_dtype(self) -> torch.dtype:
        """Return the data type of the model's weights."""
        return torch.bfloat16 if self.precision in ("bf16", "mixed") else torch.float32


def model_class(config: Any) -> Any:
    """Return the auto class with the loss that a model of this configuration is trained with."""
    if has_audio(config):
        return transformers.AutoModelForSpeechSeq2Seq
    if config.is_encoder_decoder:
        return transformers.AutoModelForSeq2SeqLM
    if type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING:
        return transformers.AutoModelForMaskedLM
    return transformers.AutoModelForImageTextToText if has_images(config) else transformers.AutoModelForCausalLM


def has_images(config: Any) -> bool:
    """Return whether the model reads images. For Llama 4 and others, the auto class for text has no image encoder."""
    return type(config) in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING


def has_audio(config: Any) -> bool:
    """Return whether the model is Whisper, whose encoder reads mel features of a fixed length and no tokens."""
    return bool(config.model_type == "whisper")


def replaced_kernels(config: Any) -> list[str]:
    """Return the kernel packages in whose place the model of a configuration runs transformers' own PyTorch code.

    State-space and linear-attention layers have such code; with the packages, a GPU allocates other tensors.
    """
    head = model_class(config)
    if type(config) not in head._model_mapping:
        return []
    source = inspect.getsource(sys.modules[head._model_mapping[type(config)].__module__])
    return sorted({name for _, name in re.findall(_FALLBACK, source)})


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Return the layers that gradient checkpointing recomputes one at a time, in the order of the forward pass.

    The list is empty for an architecture that transformers has not divided into such layers.
    """
    found: list[nn.Module] = []
    inside: set[int] = set()
    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer) and id(module) not in inside:
            found.append(module)
            inside.update(id(child) for child in module.modules())
    return found


def _tower(model: nn.Module) -> str:
    """Return the name of the module that reads images.

    Raises:
        ValueError: no module has a known name of a vision tower.
    """
    found: list[str] = [name for name, _ in model.named_modules() if name.rpartition(".")[2] in _TOWERS]
    if not found:
        fault = f"--freeze-tower: {type(model).__name__} has no module of the name {' or '.join(_TOWERS)}"
        raise ValueError(f"{fault}; leave --freeze-tower out")
    return found[0]


class _Linear4bit(nn.Module):
    """bitsandbytes' 4-bit linear layer as its CUDA kernels allocate: packed weights, dequantized for each matmul."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = base.in_features, base.out_features
        packed = torch.empty((base.weight.numel() + 1) // 2, 1, dtype=torch.uint8)
        self.weight = nn.Parameter(packed, requires_grad=False)
        self.register_buffer("absmax", torch.empty(-(-base.weight.numel() // 64), dtype=torch.uint8))
        self.register_buffer("absmax_of_absmax", torch.empty(-(-base.weight.numel() // (64 * 256))))
        self.bias = base.bias

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        """Return the matmul in bf16, cast back to the type of the input."""
        out: torch.Tensor = _MatMul4bit.apply(value.to(torch.bfloat16), self.out_features, self.bias)
        return out.to(value.dtype)


class _MatMul4bit(torch.autograd.Function):
    """A matmul that dequantizes its weight in both passes, and saves the packed weight alone."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, rows: int, bias: torch.Tensor | None) -> torch.Tensor:
        """Return value @ weight.T."""
        ctx.shape = (rows, value.shape[-1])
        weight = torch.empty(ctx.shape, dtype=value.dtype)
        return torch.nn.functional.linear(value, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        """Return the gradient of the input."""
        return torch.matmul(grads[0], torch.empty(ctx.shape, dtype=grads[0].dtype)), None, None


def _add_adapters(model: Any, settings: TraceSettings) -> Any:
    """Return the model with peft's LoRA or DoRA adapters."""
    import peft  # noqa: PLC0415 - loads bitsandbytes, which only adapters need

    kind, _, targets = settings.job.partition("-")
    config = peft.LoraConfig(
        r=settings.rank,
        target_modules=TARGETS[targets],
        use_dora=kind == "dora",
        task_type=None,
        init_lora_weights=True,
        exclude_modules=rf"{re.escape(_tower(model))}\..*" if settings.freeze_tower else None,
    )
    # Adapters are made in the base weights' type and on their device here; fake modules cannot be moved.
    with patch.object(nn.Module, "to", lambda module, *_, **__: module):
        adapted = peft.get_peft_model(model, config)
    if kind == "qlora":
        _quantize_bases(adapted)
    return adapted


def _quantize_bases(model: Any) -> None:
    """Replace the linear layers, and give adapters the forward pass of peft's 4-bit adapters."""
    from peft.tuners.lora import bnb  # noqa: PLC0415 - as above
    from peft.tuners.lora.layer import Linear  # noqa: PLC0415

    for module in list(model.modules()):
        if isinstance(module, Linear):
            if not isinstance(module.base_layer, nn.Linear):
                raise ValueError(  # noqa: TRY004 - the model does not fit, no argument has a wrong type
                    "bitsandbytes quantizes nn.Linear alone, and this model has Conv1D layers"
                )
            module.base_layer = _Linear4bit(module.base_layer)
            module.forward = types.MethodType(bnb.Linear4bit.forward, module)
    _quantize(model)


def _quantize(model: Any) -> None:
    """Replace every linear layer but the LM head and those within adapters."""
    head = model.get_output_embeddings()
    for module in list(model.modules()):
        for name, child in module.named_children():
            adapter = isinstance(module, nn.ModuleDict)
            if type(child) is nn.Linear and child is not head and not adapter:
                setattr(module, name, _Linear4bit(child))


def _attention(model: Any, asked: str) -> str:
    """Return the name by which transformers knows an attention; ``auto`` is what it chooses itself."""
    chosen = {"flash": FLASH, "auto": "sdpa" if model._supports_sdpa else "eager"}
    return chosen.get(asked, asked)


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Make new tensors of a type for the time of a block."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def build(config: Any, settings: TraceSettings) -> Any:
    """Return the model of a configuration with the attention, the adapters and the checkpointing of the settings.

    Raises:
        ValueError: transformers has no model of this kind, or the model refuses the attention implementation.
    """
    AttentionInterface.register(FLASH, flash_attention_forward)
    AttentionMaskInterface.register(FLASH, lambda *_, **__: None)
    config.get_text_config().use_cache = config.use_cache = settings.job in ("prefill", "decode")
    head = model_class(config)
    if type(config) not in head._model_mapping:
        fault = f"{config.model_type}: transformers has no language model of this architecture to trace"
        raise ValueError(f"{fault}; run a step on a GPU and read torch.cuda.max_memory_allocated()")
    name = _attention(head._model_mapping[type(config)], settings.attention)
    with _default_dtype(settings.weight_dtype):
        model = head.from_config(config, attn_implementation=name)
    model.train(settings.trains)
    if settings.freeze_tower:
        model.get_submodule(_tower(model)).requires_grad_(requires_grad=False)
    if settings.checkpointed and settings.input_gradients:
        _checkpoint(model)
    if "lora" in settings.job or "dora" in settings.job:
        if settings.checkpointed and settings.input_gradients:
            model.enable_input_require_grads()
        with _default_dtype(settings.weight_dtype):
            model = _add_adapters(model, settings)
    if settings.four_bit:
        _quantize(model)
    if settings.checkpointed and not settings.input_gradients:
        _checkpoint(model)  # after peft, which would make the embeddings require gradients again
        model.disable_input_require_grads()
    return model


def _checkpoint(model: Any) -> None:
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
