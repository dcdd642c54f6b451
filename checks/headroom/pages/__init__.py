"""Parse pages: sentences, links, figures, code blocks and comparative sentences."""

from headroom.comparatives import ComparativeSentence, comparisons

__all__ = ["ComparativeSentence", "comparisons"]
