"""Choose what a fork server imports before its first child: on a machine with a GPU, nothing that uses the GPU."""

from headroom.execution.isolation import PRELOAD

_WITH_GPU = ("headroom.execution.gpu_preload",)


def modules(device: str) -> tuple[str, ...]:
    """Return the modules to import in a fork server whose children use this device, ``cpu`` or ``cuda``."""
    return _WITH_GPU if device == "cuda" else PRELOAD
