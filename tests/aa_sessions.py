"""The program of a real A/A session: sort numbers and record the times."""

import json
import random
import time
from pathlib import Path

NUMBERS = 20_000
TIMES = 3


def work(seed: int, result: str) -> None:
    """Sort the seed's numbers a few times, and write the seconds of each time."""
    numbers = random.Random(seed).choices(range(1 << 30), k=NUMBERS)  # noqa: S311 - numbers, no secret
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        first = min(sorted(numbers))
        seconds.append(time.perf_counter() - start)
    Path(result).write_text(json.dumps({"seconds": seconds, "output": first}), "utf-8")
