"""Find the memory of a card by its size or its name, and write bytes for people."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from headroom.maths.units import convert
from headroom.memory.errors import EstimateError
from headroom.memory.fixed_costs import usable_shares
from headroom.records.cards import Card, CardsError, read_cards

_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(GB|GiB|MB|MiB)", re.IGNORECASE)
_UNITS = {unit.lower(): unit for unit in ("GB", "GiB", "MB", "MiB")}
GIB = 2**30


@dataclass(frozen=True, slots=True)
class CardMemory:
    """The memory of a card.

    Attributes:
        usable: the bytes that CUDA or HIP reports to a program. vLLM computes its budget from them.
        basis: where the bytes are from, in words.
    """

    usable: int
    basis: str


def card_memory(text: str, root: Path) -> CardMemory:
    """Return the memory of a card, from a size such as ``24GB`` or a name such as ``RTX 4090``.

    A vendor's GB is a GiB, of which a program can use a part; a size in GiB or MiB is taken as it is.

    Raises:
        EstimateError: the text is neither a size nor a recorded card.
    """
    found = _SIZE.fullmatch(text.strip())
    if found:
        size, unit = float(found[1]), _UNITS[found[2].lower()]
        if not size:
            raise EstimateError("card", f"is `{text}`", "give a size such as 24GB or 23.6GiB")
        return _printed(size, unit, root)
    card = _named(text, root)
    if card.usable:
        size = int(convert(card.usable.value, card.usable.unit, "B"))
        return CardMemory(size, f"as a published log of the {card.title} shows it")
    if card.reported:
        size, share = int(convert(card.reported.value, card.reported.unit, "B")), usable_shares(root)[1]
        return CardMemory(int(size * share), f"{share:.1%} of what nvidia-smi shows, the share on an RTX 4090")
    return _printed(card.printed.value, card.printed.unit, root)


def card_bytes(text: str, root: Path) -> int:
    """Return the bytes of a card that a program can use, from a size or a name.

    Raises:
        EstimateError: the text is neither a size nor a recorded card.
    """
    return card_memory(text, root).usable


def _printed(size: float, unit: str, root: Path) -> CardMemory:
    """Return the memory of a card of which only a size is known."""
    if unit in ("GB", "MB"):
        share = usable_shares(root)[0]
        usable = int(convert(size, unit.replace("B", "iB"), "B") * share)
        return CardMemory(usable, f"{share:.1%} of the printed size, the share on an RTX 4090")
    return CardMemory(int(convert(size, unit, "B")), "as given")


def _named(text: str, root: Path) -> Card:
    """Return a recorded card, by its id, its title or one of its names."""
    try:
        cards = read_cards(root).cards
    except CardsError as error:
        raise EstimateError("card", f"is `{text}`", f"give a size such as 24GB or 23.6GiB ({error})") from error
    known = {name.lower(): card for key, card in cards.items() for name in (key, card.title, *card.names)}
    wanted = text.strip().lower()
    if wanted not in known:
        close = ", ".join(get_close_matches(wanted, known, n=3)) or ", ".join(cards)
        raise EstimateError("card", f"is `{text}`", f"give a size such as 24GB or 23.6GiB, or a card: {close}")
    return known[wanted]


def gib(size: int) -> str:
    """Return bytes in GiB with two decimals."""
    return f"{size / GIB:,.2f} GiB"
