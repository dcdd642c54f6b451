"""Log every allocation and release of a storage while operations run under fake tensors."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage that was allocated: its bytes, and what it belongs to."""

    number: int
    nbytes: int
    shape: tuple[int, ...]
    itemsize: int
    category: str
    """``weights``, ``gradients``, ``optimizer states``, ``inputs`` or ``temporary``."""
    phase: str
    """The phase in which it was allocated: ``setup``, ``forward``, ``backward``, ``optimizer``."""
    region: str
    """The module whose computation allocated it: ``before``, ``layer 3``, ``head`` …; for a weight, its owner."""
    operation: str


@dataclass(frozen=True, slots=True)
class Moment:
    """An operation after which the live bytes can be larger than before."""

    phase: str
    region: str
    operation: str
    workspace: tuple[tuple[tuple[int, ...], int], ...] = ()
    """Shapes and item sizes of buffers that the CUDA kernel holds while it runs."""


@dataclass(slots=True)
class Log:
    """The events of a traced run in their order: a storage, the number of a released one, or a moment."""

    storages: list[Storage] = field(default_factory=list)
    events: list[Storage | int | Moment | tuple[str, int, str, str]] = field(default_factory=list)


class StorageTracker(TorchDispatchMode):
    """Write to a log which storages each operation allocates, and which are released.

    A storage counts from the operation that returns it until nothing refers to it. Views share their base's storage.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log = Log()
        self.phase, self.region = "setup", "model"
        self._numbers: dict[int, int] = {}

    def add(self, tensor: torch.Tensor, category: str, region: str = "", operation: str = "") -> None:
        """Log a tensor's storage, or the new category of one that is known."""
        storage = tensor.untyped_storage()
        number = self._numbers.get(storage._cdata)
        if number is not None:
            self.log.events.append(("relabel", number, category, region or self.log.storages[number].region))
            return
        number = self._numbers[storage._cdata] = len(self.log.storages)
        made = Storage(
            number,
            storage.nbytes(),
            tuple(tensor.shape),
            tensor.element_size(),
            category,
            self.phase,
            region or self.region,
            operation,
        )
        self.log.storages.append(made)
        self.log.events.append(made)
        weakref.finalize(storage, self._release, storage._cdata)

    def _release(self, key: int) -> None:
        self.log.events.append(self._numbers.pop(key))

    def knows(self, tensor: torch.Tensor) -> bool:
        """Return whether the tensor's storage is in the log and was not released."""
        return tensor.untyped_storage()._cdata in self._numbers

    def mark(self, phase: str, region: str) -> None:
        """Set the phase and the region of the operations that follow, and log that they begin."""
        self.phase, self.region = phase, region
        self.log.events.append(Moment(phase, region, "begin"))

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and log the storages that it allocates."""
        out = op(*args, **(kwargs or {}))
        name = op.name()
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor) and not self.knows(leaf):
                self.add(leaf, "temporary", operation=name)
        self.log.events.append(Moment(self.phase, self.region, name))
        return out

    @contextmanager
    def running(self, phase: str, region: str) -> Iterator[None]:
        """Track the operations of a block, which begin in the given phase and region."""
        with self:
            self.mark(phase, region)
            yield
