"""Layouts in words."""

from headroom.memory.layouts import Layout

_WORDS = {"ddp": "DDP", "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3", "fsdp": "FSDP", "hsdp": "HSDP"}


def layout_name(layout: Layout) -> str:
    """Return the parallelisms of a layout with their sizes, such as ``FSDP 8 × TP 8``, or ``one GPU``."""
    parts = []
    if layout.copies > 1 and layout.strategy != "none":
        size = f"{layout.copies // layout.shard}×{layout.shard}" if layout.strategy == "hsdp" else str(layout.copies)
        parts.append(f"{_WORDS[layout.strategy]} {size}")
    sizes = (("TP", layout.tensor), ("PP", layout.pipeline), ("CP", layout.context), ("EP", layout.expert))
    parts += [f"{name} {size}" for name, size in sizes if size > 1]
    return " × ".join(parts) or "one GPU"
