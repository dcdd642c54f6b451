"""What each run of a real session of alike arms does: it sorts numbers, and tells how long that took."""

import json
import random
import time
from pathlib import Path

NUMBERS = 20_000
TIMES = 3


def work(seed: int, result: str) -> None:
    """Sort the numbers of this seed a few times, and write how many seconds each time took."""
    numbers = random.Random(seed).choices(range(1 << 30), k=NUMBERS)  # noqa: S311 - numbers, no secret
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        first = min(sorted(numbers))
        seconds.append(time.perf_counter() - start)
    Path(result).write_text(json.dumps({"seconds": seconds, "output": first}), "utf-8")
