"""Find a card by a name that people use, and build a cluster of it."""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from headroom.memory.errors import EstimateError, whole
from headroom.memory.layouts import MOST_GPUS
from headroom.memory.sizes import card_bytes
from headroom.planner.cluster import (
    Cluster,
    find_accelerator,
    link_bandwidth,
    memory_bandwidth,
    peaks_of,
    rates_of,
)
from headroom.planner.recorded import read_families_of
from headroom.records.cards import CardsError, read_cards

PCIE = 25.0
"""GB/s per direction of a PCIe 4 x16 link, for cards whose record has no link."""
NETWORK = 400.0
"""Gb/s per GPU between nodes, unless the caller gives another figure."""
_MOST_SPEED = 1e6


@dataclass(frozen=True, slots=True)
class PlannedCluster:
    """A cluster, the bytes of a card's memory, the card's title, and what is assumed of the links."""

    cluster: Cluster
    memory: int
    title: str
    notes: tuple[str, ...]


def planned_cluster(
    card: str, gpus: int, per_node: int | None, network: float | None, link: float | None, root: Path
) -> PlannedCluster:
    """Return a cluster of one card.

    Args:
        card: a card's id, title or name, such as ``H100``, or the id of an accelerator.
        gpus: the GPUs.
        per_node: the GPUs that the fast link joins; 8 or all by default.
        network: Gb/s per GPU and direction between nodes; 400 by default.
        link: GB/s per GPU and direction inside of a node; that of the accelerator's record by default.
        root: the project's folder.

    Raises:
        EstimateError: the card is unknown or lacks a figure, or a number is impossible.
    """
    whole("gpus", gpus, most=MOST_GPUS)
    inside = min(gpus, 8) if per_node is None else per_node
    whole("gpus_per_node", inside, most=MOST_GPUS)
    if gpus > inside and gpus % inside:
        raise EstimateError("gpus", f"is {gpus} with {inside} per node", "use a multiple of the GPUs per node")
    for name, value in (("network", network), ("link", link)):
        if value is not None and not 0 < value <= _MOST_SPEED:
            raise EstimateError(name, f"is {value}", "give a positive speed")
    key, accelerator_id, title = _find(card, root)
    family, accelerator = find_accelerator(read_families_of(root), accelerator_id)
    peaks = peaks_of(accelerator)
    if "bf16" not in peaks:
        raise EstimateError("card", f"{title} has no recorded bf16 rate", "use another card, or add the rate")
    recorded = link_bandwidth(accelerator)
    between = (NETWORK if network is None else network) / 8 * 1e9
    cluster = Cluster(
        accelerator=accelerator_id,
        gpus=gpus,
        gpus_per_node=inside,
        peaks=peaks,
        rates=rates_of(family, accelerator),
        memory=memory_bandwidth(accelerator_id, accelerator),
        link=(link * 1e9 if link else None) or recorded or PCIE * 1e9,
        network=between,
    )
    notes = []
    if gpus > 1 and not link and not recorded:
        notes.append(f"no link among {title} is recorded: {PCIE:g} GB/s per direction, a PCIe 4 x16 slot, is assumed")
    if gpus > inside and network is None:
        notes.append(f"{NETWORK:g} Gb/s per GPU between nodes are assumed; --network gives another figure")
    return PlannedCluster(cluster, card_bytes(key, root), title, tuple(notes))


def _find(card: str, root: Path) -> tuple[str, str, str]:
    """Return the id of a card, the id of its accelerator, and its title."""
    try:
        listed = read_cards(root).listed.cards
    except CardsError as error:
        raise EstimateError("root", f"has no list of cards ({error})", "run it in the project's folder") from error
    names = {
        name.lower(): key for key, each in listed.items() for name in (each.accelerator, key, each.title, *each.names)
    }
    found = names.get(card.strip().lower())
    if found is None:
        close = ", ".join(get_close_matches(card.strip().lower(), names, n=3)) or ", ".join(listed)
        raise EstimateError("card", f"is `{card}`", f"use a recorded card: {close}")
    return found, listed[found].accelerator, listed[found].title
