"""What each GPU holds, and what it sends with ring algorithms, from the description of a kind of parallelism.

Sizes are the ideal ones that NCCL's ring algorithms send. Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce
algorithms for clusters of workstations", Journal of Parallel and Distributed Computing 69(2), 2009.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from headroom.pictures.text_width import figure
from headroom.records.parallel_pictures import Holding, Parallelism, Transfer

ABSENT: Final = " "
SUM: Final = "\N{GREEK CAPITAL LETTER SIGMA}"
_MINUS: Final = "\N{MINUS SIGN}"
_NEIGHBOURS: Final = ("next", "previous")


def parts(data: Parallelism) -> int:
    """Return into how many parts the GPUs divide the model."""
    return data.shard or data.gpus


def groups(data: Parallelism, transfer: Transfer) -> list[list[int]]:
    """Return the ranks that send to each other, group by group."""
    ranks, size = range(data.gpus), parts(data)
    if transfer.among == "shards":
        return [list(ranks[start : start + size]) for start in range(0, data.gpus, size)]
    return [list(ranks[start::size]) for start in range(size)] if transfer.among == "copies" else [list(ranks)]


def held(data: Parallelism, holding: Holding, rank: int) -> str:
    """Return the slots of a GPU: ``x`` for a part that it holds, a blank for one that another GPU holds."""
    return "x" * parts(data) if holding.held == "all" else _only(parts(data), rank, "x")


def bytes_per_parameter(data: Parallelism) -> float:
    """Return the bytes per parameter of the model that one GPU holds between two steps."""
    return sum(each.bytes / (parts(data) if each.held == "own" else 1) for each in data.holds)


def slots(data: Parallelism, transfer: Transfer, rank: int) -> tuple[str, str]:
    """Return the slots of a GPU before and after a collective: the rank that a part comes from, a sum, or a blank."""
    size = parts(data)
    group = next(ranks for ranks in groups(data, transfer) if rank in ranks)
    whole, own = str(rank) * size, _only(size, rank, str(rank))
    everyone = "".join(map(str, group))
    if transfer.among == "copies":
        return own, _only(size, rank, SUM)
    return {
        "all-reduce": (whole, SUM * size),
        "all-gather": (own, everyone),
        "reduce-scatter": (whole, _only(size, rank, SUM)),
        "all-to-all": (everyone, whole) if transfer.returns else (whole, everyone),
    }[transfer.by]


def _only(size: int, rank: int, mark: str) -> str:
    return "".join(mark if slot == rank % size else ABSENT for slot in range(size))


def share(data: Parallelism, transfer: Transfer) -> Fraction:
    """Return what a GPU sends in one transfer, as a multiple of the whole."""
    count = len(groups(data, transfer)[0])
    if transfer.by in _NEIGHBOURS:
        return Fraction(1)
    whole = parts(data) if transfer.among == "copies" else 1
    return Fraction((2 if transfer.by == "all-reduce" else 1) * (count - 1), count * whole)


def formula(transfer: Transfer) -> str:
    """Return the share of one transfer as a formula of the numbers of GPUs: N, S that divide a copy, or R copies."""
    letter = {"all": "N", "shards": "S", "copies": "R"}[transfer.among]
    if transfer.by in _NEIGHBOURS:
        return "1"
    twice = "2" if transfer.by == "all-reduce" else ""
    below = f"({letter}S)" if transfer.among == "copies" else letter
    return f"{twice}({letter}{_MINUS}1)/{below}"


def sent(data: Parallelism, transfer: Transfer) -> str:
    """Return what a GPU sends in words: the formula, its value, and the whole."""
    times = f"{transfer.times} \N{MULTIPLICATION SIGN} " if transfer.times > 1 else ""
    value = figure(float(share(data, transfer) * transfer.times))
    text = formula(transfer)
    multiple = value if f"{times}{text}" == value else f"{times}{text} = {value}"
    return f"sends {multiple} \N{MULTIPLICATION SIGN} {transfer.of}"


def totals(data: Parallelism) -> Iterator[str]:
    """Yield what a GPU sends in all transfers that happen equally often."""
    for per in dict.fromkeys(each.per for each in data.sends):
        sums: dict[str, Fraction] = {}
        for each in data.sends:
            if each.per == per:
                sums[each.of] = sums.get(each.of, Fraction(0)) + share(data, each) * each.times
        multiples = (f"{figure(float(value))} \N{MULTIPLICATION SIGN} {of}" for of, value in sums.items())
        who = "An inner GPU" if data.sends[0].by in _NEIGHBOURS else "Each GPU"
        yield f"{who} sends per {per}: {' + '.join(multiples)}"
