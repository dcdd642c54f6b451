"""Run the machine benchmark on the CPU with sizes so small that it is fast."""


def work(result: str) -> None:
    """Run it, and write the report."""
    from headroom.execution import machine_benchmark  # noqa: PLC0415 - torch is loaded in the process only

    machine_benchmark.SIZES = {"cpu": (32, 64)}
    machine_benchmark.SAMPLE_SECONDS, machine_benchmark.LAUNCHES, machine_benchmark.ARRAY_BYTES = (
        0.001,
        10,
        {"cpu": 1 << 16},
    )
    machine_benchmark.run({"device": "cpu", "memory_bytes": 1 << 30}, result)
