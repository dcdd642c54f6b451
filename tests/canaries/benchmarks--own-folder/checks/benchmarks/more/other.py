"""One arm."""

ARMS = ("one",)
