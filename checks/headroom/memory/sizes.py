"""Find the memory of a card by its size or its name, and write bytes for people."""

import re
from difflib import get_close_matches
from pathlib import Path

from headroom.maths.units import convert
from headroom.memory.errors import EstimateError
from headroom.memory.fixed_costs import usable_shares
from headroom.records.cards import Card, CardsError, read_cards

_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(GB|GiB|MB|MiB)", re.IGNORECASE)
_UNITS = {unit.lower(): unit for unit in ("GB", "GiB", "MB", "MiB")}
GIB = 2**30


def card_bytes(text: str, root: Path) -> int:
    """Return the bytes that PyTorch can use of a card, from a size such as ``24GB`` or a name such as ``RTX 4090``.

    A vendor's GB is a GiB, of which PyTorch can use a part; a size in GiB or MiB is taken as it is.

    Raises:
        EstimateError: the text is neither a size nor a recorded card.
    """
    card = None if _SIZE.fullmatch(text.strip()) else _named(text, root)
    if card and card.reported:
        return int(card_total(text, root) * usable_shares(root)[1])
    return card_total(text, root)


def card_total(text: str, root: Path) -> int:
    """Return the bytes of a card that its driver reports, from a size or a name.

    Where no total is recorded, and of a size in GB, it is what PyTorch can use.

    Raises:
        EstimateError: the text is neither a size nor a recorded card.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found:
        card = _named(text, root)
        if card.reported:
            return int(convert(card.reported.value, card.reported.unit, "B"))
        return _usable(card.printed.value, card.printed.unit, root)
    size, unit = float(found[1]), _UNITS[found[2].lower()]
    if not size:
        raise EstimateError("card", f"is `{text}`", "give a size such as 24GB or 23.6GiB")
    return _usable(size, unit, root)


def _usable(size: float, unit: str, root: Path) -> int:
    if unit in ("GB", "MB"):
        return int(convert(size, unit.replace("B", "iB"), "B") * usable_shares(root)[0])
    return int(convert(size, unit, "B"))


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
