"""Give fake CPU tensors the saved tensors of CUDA's kernels, where the two devices choose differently.

Three substitutions, which docs/contribute/memory.md explains:

- scaled dot product attention takes the flash or the memory-efficient operator, and the math path for grouped fp32;
- autocast runs in fp32 what CUDA's autocast runs in fp32 (``AT_FORALL_FP32`` in ATen/autocast_mode.h);
- dropout saves a mask of one byte per element (``native_dropout``), where a CPU saves a mask of the input's type.

On both devices, transformers must not take a fake batch for a packed one, whose attention mask changes the kernel.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.nn import functional
from transformers import masking_utils

# The lists AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE of torch 2.13's autocast_mode.h.
_FP32_ON_CUDA = [
    "acos",
    "asin",
    "cosh",
    "erfinv",
    "exp",
    "expm1",
    "log",
    "log10",
    "log2",
    "log1p",
    "reciprocal",
    "rsqrt",
    "sinh",
    "tan",
    "pow.Tensor_Scalar",
    "pow.Tensor_Tensor",
    "pow.Scalar",
    "softplus",
    "layer_norm",
    "rms_norm",
    "native_layer_norm",
    "group_norm",
    "frobenius_norm.dim",
    "nuclear_norm",
    "nuclear_norm.dim",
    "cosine_similarity",
    "poisson_nll_loss",
    "cosine_embedding_loss",
    "nll_loss",
    "nll_loss2d",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "mse_loss",
    "margin_ranking_loss",
    "multilabel_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "multi_margin_loss",
    "binary_cross_entropy_with_logits",
    "dist",
    "pdist",
    "cdist",
    "renorm",
    "logsumexp",
    "prod",
    "prod.dim_int",
    "softmax.int",
    "log_softmax.int",
    "cumprod",
    "cumsum",
    "linalg_vector_norm",
    "linalg_matrix_norm",
    "sum",
    "sum.dim_IntList",
]


_WIDEST_FLASH_HEAD = 256


def _in_fp32(operation: Any) -> Callable[..., Any]:
    """Return the operation as CUDA's autocast runs it: with its half-precision inputs cast to fp32."""

    def up(value: Any) -> Any:
        half = isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16)
        return value.float() if half else value

    def run(*args: Any, **kwargs: Any) -> Any:
        without = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
        with torch._C._ExcludeDispatchKeyGuard(without):
            return operation(*map(up, args), **{name: up(value) for name, value in kwargs.items()})

    return run


@contextmanager
def cuda_autocast() -> Iterator[None]:
    """Run in fp32 under CPU autocast the operations that CUDA's autocast runs in fp32."""
    library = torch.library.Library("aten", "IMPL")
    try:
        for name in _FP32_ON_CUDA:
            base, _, overload = name.partition(".")
            packet = getattr(torch.ops.aten, base, None)
            operation = getattr(packet, overload or "default", None) if packet else None
            if operation is not None:
                library.impl(operation, _in_fp32(operation), "AutocastCPU", allow_override=True)
        yield
    finally:
        library._destroy()


def _flash(query: Any, key: Any, value: Any, dropout: float, causal: bool, scale: float | None) -> torch.Tensor:
    """Return the output of the flash operator, whose heads are padded to a multiple of eight."""
    width, pad = value.shape[-1], -query.shape[-1] % 8
    widest = query.shape[-1] + pad
    query, key, value = (
        functional.pad(t, (0, widest - t.shape[-1])) if t.shape[-1] < widest else t for t in (query, key, value)
    )
    out: torch.Tensor = torch.ops.aten._scaled_dot_product_flash_attention(
        query, key, value, dropout, causal, False, scale=scale
    )[0]
    return out[..., :width]


def _efficient(
    query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, scale: float | None
) -> torch.Tensor:
    """Return the output of the memory-efficient operator, which expands a mask over batch and heads as a view."""
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, float("-inf")).to(query.dtype)
    if mask is not None:
        mask = mask.expand(*query.shape[:3], key.shape[2])
    grads = query.requires_grad or key.requires_grad
    out: torch.Tensor = torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, mask, grads, dropout, causal, scale=scale
    )[0]
    return out


def _math(query: Any, key: Any, value: Any, mask: Any, dropout: float, scale: float | None) -> torch.Tensor:
    """Return the output of the math path, which keeps scores of sequence x sequence."""
    scores = (query @ key.transpose(-1, -2)) * (scale or query.shape[-1] ** -0.5)
    if mask is not None:
        scores = scores + mask
    return functional.dropout(torch.softmax(scores, -1), dropout) @ value


def cuda_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Return scaled dot product attention by the kernel that torch chooses on CUDA.

    Shapes as in torch: query (batch, heads, length, head size), key and value (batch, key-value heads, length, head
    size).
    """
    if torch.is_autocast_enabled("cpu"):
        query, key, value = (t.to(torch.bfloat16) for t in (query, key, value))
        attn_mask = attn_mask.to(query.dtype) if attn_mask is not None and attn_mask.dtype != torch.bool else attn_mask
    half = query.dtype in (torch.float16, torch.bfloat16)
    same_width = query.shape[-1] == value.shape[-1] <= _WIDEST_FLASH_HEAD
    if attn_mask is None and half and same_width:
        return _flash(query, key, value, dropout_p, is_causal, scale)
    grouped = enable_gqa and query.shape[1] != key.shape[1]
    if grouped:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    if grouped and not half:
        return _math(query, key, value, attn_mask, dropout_p, scale)
    return _efficient(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _cuda_dropout(value: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """Return dropout by the operator that CUDA uses in training, which saves one byte per element."""
    if not training or p == 0:
        return value
    out: torch.Tensor = torch.native_dropout(value, p, True)[0]
    return value.copy_(out) if inplace else out


class _GroupedMatmul(torch.autograd.Function):
    """A grouped matmul of any type: its CUDA kernel takes fp32 and fp16 too, its fake kernel bf16 alone."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Return an output of (rows, columns of a group's weight)."""
        ctx.save_for_backward(rows, weight)
        return rows.new_empty(rows.shape[0], weight.shape[-1])

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> Any:
        """Return the gradients of the rows and of all groups' weights."""
        rows, weight = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        made = [torch.empty_like(each) if want else None for each, want in zip((rows, weight), wanted, strict=True)]
        return tuple(made)


def _grouped_mm(rows: torch.Tensor, weight: torch.Tensor, *, offs: torch.Tensor) -> torch.Tensor:
    if rows.dtype == torch.bfloat16:
        out: torch.Tensor = torch.ops.aten._grouped_mm(rows, weight, offs)
    else:
        out = _GroupedMatmul.apply(rows, weight)
    return out


@contextmanager
def any_grouped_matmul() -> Iterator[None]:
    """Let fake tensors of any floating type take the grouped matmul of experts."""
    with _attribute(functional, "grouped_mm", _grouped_mm):
        yield


@contextmanager
def _attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute for the time of a block."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def flash_attention_forward(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any = None,  # noqa: ARG001 - a batch without padding has none
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Return attention as the flash-attn library computes it, which never takes a mask without padding."""
    causal = kwargs.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    if torch.is_autocast_enabled("cpu"):
        query, key, value = (t.to(torch.bfloat16) for t in (query, key, value))
    out = _flash(query, key, value, dropout, causal and query.shape[2] > 1, scaling)
    return out.transpose(1, 2).contiguous(), None


@contextmanager
def unpacked_batches() -> Iterator[None]:
    """Let transformers take no batch for a packed one for the time of a block, as it does with real tokens."""
    with _attribute(masking_utils, "find_packed_sequence_indices", lambda *_, **__: None):
        yield


@contextmanager
def cuda_choices(autocast: bool) -> Iterator[None]:
    """Choose CUDA's kernels for fake CPU tensors for the time of a block."""
    with ExitStack() as stack:
        stack.enter_context(_attribute(functional, "scaled_dot_product_attention", cuda_attention))
        stack.enter_context(_attribute(functional, "dropout", _cuda_dropout))
        if autocast:
            stack.enter_context(cuda_autocast())
        yield
