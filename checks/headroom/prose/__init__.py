"""What the text says: pages, their links and figures, the code that they embed, and which sentences compare."""

from headroom.prose.comparing import Comparison, comparisons

__all__ = ["Comparison", "comparisons"]
