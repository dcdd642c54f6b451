"""Compute small integer tensors for real inside a trace, because models of images read their values.

Such a model reads the rows and columns of patches of each image (``grid.tolist()``) to split sequences. Weights,
pixels and activations stay fake.
"""

from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    unset_fake_temporarily,
)
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_LARGEST = 2**22
"""Elements of the largest tensor that is computed: positions and token ids, and no mask of long sequences."""


def _tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _small(tensors: list[torch.Tensor]) -> bool:
    return all(each.numel() <= _LARGEST for each in tensors)


_INDEXED = (torch.ops.aten.index, torch.ops.aten.index_put, torch.ops.aten.index_put_)


def _without_masks(args: Any) -> Any:
    """Return the arguments of an indexing with places instead of masks that have values."""
    places: list[torch.Tensor | None] = []
    for index in args[1]:
        real = index is not None and not isinstance(index, FakeTensor)
        places += index.nonzero().unbind(1) if real and index.dtype == torch.bool else [index]
    return (args[0], places, *args[2:])


class RealIntegers(TorchDispatchMode):
    """Make small integer tensors with values, and give values to each small tensor that is computed from such alone."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the operation's result, with values where all inputs have values."""
        kwargs = kwargs or {}
        inputs = _tensors((args, kwargs))
        if any(isinstance(each, FakeTensor) for each in inputs) or not _small(inputs):
            if op.overloadpacket in _INDEXED:
                with unset_fake_temporarily():
                    args = _without_masks(args)
            return op(*args, **kwargs)
        try:
            fake = op(*args, **kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            fake = None  # the result depends on values, so no fake tensor says how large it is
        results = _tensors(fake)
        made = not inputs and any(each.is_floating_point() for each in results)  # new weights or activations
        if made or not _small(results):
            return fake
        with unset_fake_temporarily():
            return op(*args, **kwargs)
