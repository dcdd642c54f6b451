"""What the text says: pages, their links and figures, the code that they embed, and which sentences compare."""

from headroom.comparatives import ComparativeSentence, comparisons

__all__ = ["ComparativeSentence", "comparisons"]
