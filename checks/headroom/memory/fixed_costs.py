"""Memory that a process takes apart from its tensors: CUDA's context, cuBLAS, NCCL and what PyTorch only reserves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from headroom.io.safe_read import UnreadableError, read_text
from headroom.io.strict_load import load_yaml
from headroom.maths.units import convert
from headroom.memory.errors import EstimateError
from headroom.memory.layouts import Layout
from headroom.memory.percentiles import percentile

_CARD_FACTS = "checks/facts/card-memory.yml"
_ERRORS = "checks/facts/out-of-memory.yml"
_MIB = 2**20
Found = TypeVar("Found")
CUBLAS_WORKSPACE = (8_519_680, 32 * _MIB)
"""What PyTorch allocates for cuBLAS at the first matmul: as seen in a snapshot, and as recommended for Hopper.

Sources: https://discuss.pytorch.org/t/178671, first post, on 8519680 bytes; and
https://github.com/pytorch/pytorch/pull/120925, first post.
"""
COVERED = 0.9
"""The share of the recorded out-of-memory errors that an interval covers."""


@dataclass(frozen=True, slots=True)
class FixedCosts:
    """Bytes that a process takes beyond its allocated tensors: an interval, and its parts with their sources."""

    low: int
    high: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BesideTensors:
    """What processes took apart from their tensors when they ran out of memory.

    Attributes:
        unallocated: reserved and not allocated by PyTorch, as a share of what was allocated, one per error.
        outside: bytes of the process that PyTorch had not reserved, one per error that states the process's memory.
    """

    unallocated: tuple[float, ...]
    outside: tuple[int, ...]

    @property
    def share(self) -> float:
        """Return the share of the allocated bytes that nine of ten errors do not exceed."""
        return percentile(self.unallocated, COVERED)

    @property
    def context(self) -> tuple[int, int]:
        """Return the interval of the bytes outside of PyTorch: CUDA's context, libraries and NCCL."""
        return int(percentile(self.outside, 1 - COVERED)), int(percentile(self.outside, COVERED))


def fixed_costs(allocated: int, layout: Layout, root: Path) -> FixedCosts:
    """Return the interval of the bytes that a process takes beyond its allocated tensors.

    Args:
        allocated: the peak of allocated bytes.
        layout: the layout; one GPU and several GPUs have an interval each.
        root: the project's folder, with the facts.
    """
    known, gpus = beside_tensors(layout.gpus, root), "one GPU" if layout.gpus == 1 else "several GPUs"
    context = known.context
    outside, shares = (f"{len(each)} out-of-memory errors on {gpus}" for each in (known.outside, known.unallocated))
    mib = [f"{each / _MIB:,.0f}" for each in (*context, *CUBLAS_WORKSPACE)]
    notes = (
        f"CUDA context, libraries and NCCL {mib[0]} to {mib[1]} MiB: {outside} ({_ERRORS})",
        f"cuBLAS workspace {mib[2]} MiB, {mib[3]} MiB on Hopper",
        f"reserved and not allocated: 0 to {known.share:.0%} of allocated: nine in ten of {shares}",
    )
    low = context[0] + CUBLAS_WORKSPACE[0]
    high = context[1] + CUBLAS_WORKSPACE[1] + int(allocated * known.share)
    return FixedCosts(low, high, notes)


def beside_tensors(gpus: int, root: Path) -> BesideTensors:
    """Return what the recorded out-of-memory errors say of one GPU, or of several.

    Raises:
        EstimateError: the facts cannot be read.
    """
    return _read(_ERRORS, root, _errors)["one" if gpus == 1 else "several"]


def usable_shares(root: Path) -> tuple[float, float]:
    """Return the share of a card's memory that PyTorch can use, as an RTX 4090 shows it.

    Returns:
        the share of what the vendor prints, each GB taken as a GiB, and of the total that nvidia-smi shows.
    """
    known = _read(_CARD_FACTS, root, _figures)
    usable = known["rtx_4090_capacity"]
    return usable / (24 * 2**30), usable / known["rtx_4090_smi_total"]


def _read(file: str, root: Path, parse: Callable[[str], Mapping[str, Found]]) -> Mapping[str, Found]:
    """Return what is parsed of a sheet of facts.

    Raises:
        EstimateError: the facts cannot be read.
    """
    try:
        return parse(read_text(root / file, root))
    except UnreadableError as error:
        raise EstimateError(file, error.message, error.remedy) from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise EstimateError(file, f"is not a sheet of facts: {error}", "restore the file") from error


@lru_cache(maxsize=4)  # many estimates read one file
def _figures(text: str) -> Mapping[str, float]:
    """Return the figures of a sheet in bytes."""
    return {name: _bytes(each) for name, each in load_yaml(text).value["figures"].items()}


@lru_cache(maxsize=4)
def _errors(text: str) -> Mapping[str, BesideTensors]:
    """Return what the quoted errors say of one GPU and of several."""
    errors = list(load_yaml(text).value["errors"].values())
    return {gpus: _beside([each for each in errors if each["gpus"] == gpus]) for gpus in ("one", "several")}


def _bytes(cell: Mapping[str, Any]) -> float:
    return convert(float(cell["value"]), str(cell["unit"]), "B")


def _beside(errors: Sequence[Mapping[str, Any]]) -> BesideTensors:
    return BesideTensors(
        tuple(_reserved(each) / _bytes(each["allocated"]) - 1 for each in errors),
        tuple(int(_bytes(each["in_use"]) - _reserved(each)) for each in errors if "in_use" in each),
    )


def _reserved(error: Mapping[str, Any]) -> float:
    """Return the reserved bytes of an error, which states either them or what of them is not allocated."""
    if "reserved" in error:
        return _bytes(error["reserved"])
    return _bytes(error["allocated"]) + _bytes(error["unallocated"])
