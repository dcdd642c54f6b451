"""Parse pages: sentences, links, figures and code blocks."""
