"""Names of GPUs, and the memory of each from its accelerator's record: checks/facts/cards.yml."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from headroom.io.safe_read import Found
from headroom.records.accelerator_files import read_families
from headroom.records.accelerators import FOLDER, Accelerator, Memory
from headroom.records.base import Record, Slug, Text
from headroom.records.loader import Reader

PATH = "checks/facts/cards.yml"


class CardsError(ValueError):
    """The list of cards is missing or invalid."""


class NamedCard(Record):
    """The names of a GPU, or of one of the devices that a GPU consists of."""

    title: Text
    names: Annotated[tuple[Text, ...], Field(min_length=1)]
    """What people and drivers call it, such as ``4090`` and ``NVIDIA GeForce RTX 4090``."""
    accelerator: Slug
    """Its id in checks/facts/accelerators/."""


class CardList(Record):
    """The cards, by a short id."""

    cards: dict[Slug, NamedCard] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Card:
    """A card with its memory."""

    title: str
    names: tuple[str, ...]
    printed: Memory
    """What the vendor prints for one device."""
    reported: Memory | None
    """What nvidia-smi or rocm-smi shows."""
    usable: Memory | None = None
    """What CUDA or HIP reports to a program."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards with their memory, and the list as it is written."""

    listed: CardList = field(default_factory=CardList)
    cards: Mapping[str, Card] = field(default_factory=dict)


def cards_of(reader: Reader, file: Found, accelerators: Mapping[str, Accelerator]) -> Cards | None:
    """Return the cards of the file, or None after reporting its problems."""
    listed = reader.yaml(file, "facts", CardList.model_validate_json)
    if listed is None:
        return None
    found = {}
    unread = any(problem.path.startswith(f"{FOLDER}/") for problem in reader.problems)  # may have any accelerator
    for name, card in listed.cards.items():
        known = accelerators.get(card.accelerator)
        if known is not None and isinstance(known.memory, Memory):
            size = known.memory.model_copy(update={"value": known.memory.value / known.devices})
            found[name] = Card(card.title, card.names, size, known.reported, known.usable)
        elif not unread:
            line = reader.line(file, ("cards", name, "accelerator"))
            message = f"no accelerator `{card.accelerator}` has a known memory"
            reader.report(file.name, "facts", message, "correct the name, or add the memory to its record", line)
    return Cards(listed, found)


def read_cards(root: Path | str) -> Cards:
    """Return the recorded cards.

    Args:
        root: the folder of ``mkdocs.yml``.

    Raises:
        CardsError: the file is missing or invalid.
    """
    place = Path(root)
    files = [place / PATH, *sorted((place / "checks/facts/accelerators").glob("*.yml"))]
    return _read(
        place, tuple((file.name, found.st_mtime_ns, found.st_size) for file in files if (found := _stat(file)))
    )


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


@lru_cache(maxsize=8)  # each card of a page asks anew; the times and sizes of the files tell whether they changed
def _read(root: Path, _files: tuple[tuple[str, int, int], ...]) -> Cards:
    reader = Reader(root)
    families = read_families(reader)
    accelerators = {name: each for family in families.values() for name, each in family.accelerators.items()}
    cards = None
    for file in reader.each("checks/facts", ".yml", "facts"):
        if file.name == PATH:
            cards = cards_of(reader, file, accelerators)
    problem = next((each for each in reader.problems if each.path.startswith((PATH, f"{FOLDER}/"))), None)
    if cards is None or problem:
        raise CardsError(str(problem) if problem else f"no {PATH}")
    return cards
