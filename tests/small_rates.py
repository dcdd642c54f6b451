"""What a process of a test does: it measures the CPU with sizes so small that it takes no time."""


def work(result: str) -> None:
    """Measure, and write the report."""
    from headroom.running import rates  # noqa: PLC0415 - torch is loaded in the process only

    rates.SIZES = {"cpu": (32, 64)}
    rates.SAMPLE_SECONDS, rates.LAUNCHES, rates.ARRAY_BYTES = 0.001, 10, {"cpu": 1 << 16}
    rates.run({"device": "cpu", "memory_bytes": 1 << 30}, result)
