"""A step in five ways."""

from collections.abc import Callable

ARMS = ("plain", "clever", "twin", "noisy", "moody")


def prepare(arm: str, *, batch_size: int, device: str = "cpu", seed: int = 0) -> Callable[[], float]:
    """A function that takes one step."""
    return lambda: float(len(arm) + batch_size + len(device) + seed)
