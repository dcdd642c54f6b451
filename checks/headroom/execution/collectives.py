"""Count the collectives of a step, and the bytes that this rank sends for them.

The calls and their payloads are counted as torch issues them, on any backend. The bytes sent follow from a payload by
the ring algorithm, which NCCL uses for large messages. Of a broadcast, a reduce and a gather, each rank counts the mean
over the ranks. Gloo sends other bytes for some collectives; ``sent_bytes`` counts those.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

CABLE = "cable"
"""The network device of a rank that a benchmark moved into a namespace of its own."""
COMMUNICATION_METRICS = ("bytes_sent", "collectives", "wire_bytes")
_NAMESPACES = ("c10d", "_c10d_functional")
_SILENT = (
    "barrier",
    "check_for_nan",
    "irecv",
    "monitored_barrier",
    "recv",
    "recv_any_source",
    "wait_tensor",
    "wrap_tensor_autograd",
)
_INPUTS = ("input", "inputs", "input_list", "input_tensor", "input_tensors", "tensor", "tensors")
_KINDS = {
    "allgather": "all_gather",
    "allgather_base": "all_gather",
    "allreduce": "all_reduce",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all",
    "all_to_all_single": "all_to_all",
    "isend": "send",
    "reduce_scatter_base": "reduce_scatter",
}
_ENDINGS = ("_out", "_coalesced", "_into_tensor", "_tensor")


def _share(size: int) -> float:
    return (size - 1) / size


_SENT: Mapping[str, Callable[[int], float]] = {
    "all_gather": lambda size: size - 1.0,
    "all_reduce": lambda size: 2 * _share(size),
    "all_to_all": _share,
    "broadcast": _share,
    "gather": _share,
    "reduce": _share,
    "reduce_scatter": _share,
    "scatter": _share,
    "send": lambda size: 1.0 if size else 0.0,
}
"""Bytes sent per byte of this rank's input, by kind, in a group of so many ranks."""


class CollectiveCounter(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """A dispatch mode that counts the collectives of this rank by kind.

    Raises:
        ValueError: a collective is not one of the known kinds, so its bytes cannot be counted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        """Calls by kind; a coalesced call counts once."""
        self.sent: Counter[str] = Counter()
        """Bytes sent by kind, by the ring algorithm."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # what a DTensor sends is called on its local tensors, below this operation
        if func.namespace in _NAMESPACES:
            self._count(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _count(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        name = func._schema.name.partition("::")[2].strip("_")  # noqa: SLF001 - torch has no public name of an operation
        if name in _SILENT:
            return
        kind = kind_of(name)
        named = {argument.name: value for argument, value in zip(func._schema.arguments, args, strict=False)}  # noqa: SLF001
        group = _group({**named, **kwargs})
        self.calls[kind] += 1
        self.sent[kind] += round(_payload({**named, **kwargs}, group) * _SENT[kind](group.size()))

    @property
    def total_calls(self) -> int:
        """All calls of this rank."""
        return self.calls.total()

    @property
    def total_sent(self) -> int:
        """All bytes that this rank sends, by the ring algorithm."""
        return self.sent.total()


def kind_of(name: str) -> str:
    """Return the kind of a collective from the name of torch's operation, without underscores at its ends.

    Raises:
        ValueError: there is no such kind.
    """
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    kind = _KINDS.get(name, name)
    if kind not in _SENT:
        raise ValueError(f"the bytes of the collective `{name}` are not counted; add its kind to {__name__}")
    return kind


def _group(named: Mapping[str, Any]) -> Any:
    """Return the process group of a call: functional collectives name it, others hold it."""
    if "process_group" in named:
        return dist.ProcessGroup.unbox(named["process_group"])
    name = named["group_name"]
    return distributed_c10d._resolve_process_group(name) if isinstance(name, str) else name  # noqa: SLF001


def _payload(named: Mapping[str, Any], group: Any) -> float:
    """Return the bytes of this rank's input; of an uneven all-to-all, as many as make the share for others right."""
    given = next(named[name] for name in _INPUTS if name in named)
    total: int = sum(tensor.nbytes for tensor in _tensors(given))
    splits = named.get("input_split_sizes") or ()
    if not splits or not sum(splits):
        return total
    others: float = total * (1 - splits[group.rank()] / sum(splits))
    return others / _share(group.size()) if group.size() > 1 else 0.0


def _tensors(given: Any) -> Iterator[torch.Tensor]:
    if isinstance(given, torch.Tensor):
        yield given
    else:
        for part in given:
            yield from _tensors(part)


def sent_bytes(table: Path = Path("/proc/net/dev")) -> tuple[int, bool] | None:
    """Return the bytes that this network namespace has sent, and whether it is this rank's own.

    With ``lo`` alone, the ranks share the namespace. A rank that is a host of its own has a second device, ``CABLE``,
    and the bytes are those that it sends there. None with other devices, which other programs may use.

    Args:
        table: the kernel's table of devices.
    """
    try:
        rows = [line.split(":", 1) for line in table.read_text(encoding="ascii").splitlines() if ":" in line]
    except OSError:
        return None
    devices = {name.strip(): figures.split() for name, figures in rows}
    if set(devices) not in ({"lo"}, {"lo", CABLE}):
        return None
    return int(devices[CABLE if CABLE in devices else "lo"][8]), CABLE in devices


def sent_by(step: Callable[[], float]) -> dict[str, float]:
    """Return what this rank sends in a step, by metric; ``wire_bytes`` only in a private network namespace."""
    counter = CollectiveCounter()
    dist.barrier()
    before = sent_bytes()
    dist.barrier()  # no rank sends before each has read the counter
    with counter:
        step()
    dist.barrier()
    after = sent_bytes()
    found = {"bytes_sent": float(counter.total_sent), "collectives": float(counter.total_calls)}
    if before is None or after is None:
        return found
    sharing = 1 if after[1] else dist.get_world_size()
    return {**found, "wire_bytes": (after[0] - before[0]) / sharing}
