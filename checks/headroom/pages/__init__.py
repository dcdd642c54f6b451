"""Parse pages: sentences, links, figures, code blocks and comparative sentences."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headroom.comparatives import ComparativeSentence, comparisons

__all__ = ["ComparativeSentence", "comparisons"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(name)
    from headroom import comparatives  # noqa: PLC0415 - comparatives imports modules of this package

    return getattr(comparatives, name)
