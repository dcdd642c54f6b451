"""Read pages: their text, links, figures, sentences and embedded code."""
