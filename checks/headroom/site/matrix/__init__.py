"""The table of all methods and their effects on speed, memory and quality, on every hardware class."""
