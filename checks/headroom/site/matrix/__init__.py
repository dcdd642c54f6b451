"""The matrix: what every method does to speed, memory and quality on every hardware class, as far as it is known."""
