"""Bytes of optimizer states, and of what an optimizer step allocates, per optimizer and implementation.

The names are those of the Trainer's ``optim``, and a few of torch.optim. A test runs one step of each optimizer and
compares its states and its temporaries with these formulas.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod

from headroom.memory.errors import EstimateError

Shape = tuple[int, ...]
States = Callable[[Shape, str, int], int]
"""Bytes of the states of a tensor, by its shape, its kind and the bytes per element of the trained tensor."""
_SMALL, _BLOCK = 4096, 256
_PAGED_FROM = 100_000


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer.

    Attributes:
        states: the bytes of a tensor's states.
        step: which temporaries its step allocates.
        cost: the formula of the states, as text.
        paged: whether states of large tensors are in unified memory, which the driver moves to the CPU.
    """

    states: States
    step: str
    cost: str
    paged: bool = False


def _same_type(copies: int) -> States:
    return lambda shape, _kind, width: copies * width * prod(shape)


def _bitsandbytes(single: int, *, bits: int) -> States:
    """Return the states of a bitsandbytes optimizer; its 8-bit blocks of 256 numbers have an fp32 scale.

    Tensors below 4,096 elements and, in the Trainer, embeddings have fp32 states.
    """

    def states(shape: Shape, kind: str, _width: int) -> int:
        elements = prod(shape)
        if bits == 32 or elements < _SMALL or kind == "embedding":  # noqa: PLR2004 - bits
            return 4 * single * elements
        return single * (elements + 4 * -(-elements // _BLOCK))

    return states


def _torchao(*, bits: int, block: int) -> States:
    """Return the states of a torchao optimizer; tensors below 4,096 elements or of odd sizes keep the weight's type."""

    def states(shape: Shape, _kind: str, width: int) -> int:
        elements = prod(shape)
        if elements < _SMALL or elements % block:
            return 2 * width * elements
        return 2 * (elements * bits // 8 + 4 * (elements // block))

    return states


def _adafactor(width_of: Callable[[int], int]) -> States:
    """Return Adafactor's states: a row and a column of the second moment, without a first moment."""

    def states(shape: Shape, _kind: str, width: int) -> int:
        if len(shape) < 2:  # noqa: PLR2004 - a matrix has two sizes
            return width_of(width) * prod(shape)
        return width_of(width) * prod(shape[:-2]) * (shape[-2] + shape[-1])

    return states


def _muon(shape: Shape, kind: str, width: int) -> int:
    """Return Muon's states: a momentum for each matrix, and AdamW's states for all other tensors."""
    return (1 if is_muon_matrix(shape, kind) else 2) * width * prod(shape)


def is_muon_matrix(shape: Shape, kind: str) -> bool:
    """Return whether Muon trains a tensor; AdamW trains embeddings, LM heads, norms and biases."""
    return len(shape) == 2 and kind not in ("embedding", "head")  # noqa: PLR2004 - a matrix has two sizes


_ADAM8, _ADAM32 = _bitsandbytes(2, bits=8), _bitsandbytes(2, bits=32)
_LION8, _LION32 = _bitsandbytes(1, bits=8), _bitsandbytes(1, bits=32)
_MIX8, _MIX32 = _bitsandbytes(3, bits=8), _bitsandbytes(3, bits=32)
_EIGHT = "8-bit states with a scale per 256; embeddings and tensors below 4,096 elements in fp32"
OPTIMIZERS: dict[str, Optimizer] = {
    "adamw_torch_fused": Optimizer(_same_type(2), "none", "2 × trained tensors"),
    "adamw_torch": Optimizer(_same_type(2), "copy", "2 × trained tensors"),
    "adamw_torch_loop": Optimizer(_same_type(2), "loop", "2 × trained tensors"),
    "adamw_torch_8bit": Optimizer(_torchao(bits=8, block=256), "none", "2 × 8 bits, a scale per 256"),
    "adamw_torch_4bit": Optimizer(_torchao(bits=4, block=128), "none", "2 × 4 bits, a scale per 128"),
    "adamw_bnb_8bit": Optimizer(_ADAM8, "none", f"2 × {_EIGHT}"),
    "adamw_8bit": Optimizer(_ADAM8, "none", f"2 × {_EIGHT}"),
    "paged_adamw_8bit": Optimizer(_ADAM8, "none", f"2 × {_EIGHT}", paged=True),
    "paged_adamw_32bit": Optimizer(_ADAM32, "none", "2 × fp32", paged=True),
    "adafactor": Optimizer(_adafactor(lambda _width: 4), "adafactor", "fp32 rows and columns"),
    "adafactor_torch": Optimizer(_adafactor(lambda width: width), "copy", "rows and columns"),
    "sgd": Optimizer(_same_type(0), "none", "none"),
    "sgd_momentum": Optimizer(_same_type(1), "none", "1 × trained tensors"),
    "adagrad": Optimizer(_same_type(1), "two copies", "1 × trained tensors"),
    "rmsprop": Optimizer(_same_type(1), "copy", "1 × trained tensors"),
    "rmsprop_bnb": Optimizer(_LION32, "none", "1 × fp32"),
    "rmsprop_bnb_32bit": Optimizer(_LION32, "none", "1 × fp32"),
    "rmsprop_bnb_8bit": Optimizer(_LION8, "none", f"1 × {_EIGHT}"),
    "lion_32bit": Optimizer(_LION32, "none", "1 × fp32"),
    "lion_8bit": Optimizer(_LION8, "none", f"1 × {_EIGHT}"),
    "paged_lion_32bit": Optimizer(_LION32, "none", "1 × fp32", paged=True),
    "paged_lion_8bit": Optimizer(_LION8, "none", f"1 × {_EIGHT}", paged=True),
    "ademamix": Optimizer(_MIX32, "none", "3 × fp32"),
    "ademamix_8bit": Optimizer(_MIX8, "none", f"3 × {_EIGHT}"),
    "paged_ademamix_32bit": Optimizer(_MIX32, "none", "3 × fp32", paged=True),
    "paged_ademamix_8bit": Optimizer(_MIX8, "none", f"3 × {_EIGHT}", paged=True),
    "schedule_free_adamw": Optimizer(_same_type(2), "copy", "2 × trained tensors"),
    "muon": Optimizer(_muon, "muon", "1 × matrices, 2 × other trained tensors"),
}


def optimizer(name: str) -> Optimizer:
    """Return an optimizer by its name.

    Raises:
        EstimateError: the optimizer is unknown.
    """
    if name not in OPTIMIZERS:
        raise EstimateError("optimizer", f"is {name!r}", f"use one of {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[name]


def state_bytes(name: str, shape: Shape, kind: str, width: int) -> int:
    """Return the bytes of a tensor's states on the GPU; paged states may be in CPU memory and count as none."""
    found = optimizer(name)
    return 0 if found.paged and prod(shape) >= _PAGED_FROM else found.states(shape, kind, width)


def step_bytes(name: str, tensors: Iterable[tuple[Shape, str]], width: int, shards: int = 1) -> tuple[int, str]:
    """Return the bytes that the optimizer step allocates and frees, with the formula.

    Args:
        name: the optimizer.
        tensors: the shape and kind of each trained tensor of one GPU.
        width: the bytes per element of a trained tensor.
        shards: the GPUs that divide each tensor's states.
    """
    step, listed = optimizer(name).step, list(tensors)
    elements = [prod(shape) for shape, _kind in listed]
    largest = max(elements, default=0)
    inner = max((prod(shape) for shape, kind in listed if kind not in ("embedding", "head")), default=0)
    found = {
        "none": (0, "none"),
        "copy": (width * sum(elements), "foreach: 1 × trained tensors"),
        "two copies": (2 * width * sum(elements), "foreach: 2 × trained tensors"),
        "loop": (width * max(2 * largest, 3 * inner), "max(2 × largest tensor, 3 × largest layer tensor)"),
        "adafactor": ((20 if width < 4 else 12) * largest, "fp32 copies of the largest tensor"),  # noqa: PLR2004 - fp32
        "muon": _muon_step(listed, width),
    }[step]
    return -(-found[0] // shards), found[1]


def _muon_step(tensors: Iterable[tuple[Shape, str]], width: int) -> tuple[int, str]:
    """Return the bytes of Muon's step for the largest matrix: its update, two bf16 copies and two Gram matrices."""
    matrices = [shape for shape, kind in tensors if is_muon_matrix(shape, kind)]
    sizes = [(width + 4) * prod(shape) + 4 * min(shape) ** 2 for shape in matrices]
    return max(sizes, default=0), "largest matrix: update, 2 bf16 copies, 2 Gram matrices"
