"""One run of a benchmark, with a clock on what the benchmark itself does: the rest of a session is the harness."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headroom.running import benchmark_run

WORK = "work.json"
"""The file beside a run's report that holds the seconds of the benchmark's own work."""


class Clock:
    """Adds up the seconds that the functions given to it take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, on the clock."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            result = work(*args, **kwargs)
            self.seconds += time.perf_counter() - began
            return result

        timed.plain = work  # type: ignore[attr-defined]
        return timed


def run(script: str, request: Mapping[str, Any], result: str) -> None:
    """Run one arm as every session does. On the clock are preparing it, its first step and the timed ones."""
    clock = Clock()
    load, inspected = benchmark_run._load, benchmark_run._inspected

    def clocked(path: Path) -> Any:
        module = load(path)
        prepare = clock(module.prepare)
        module.prepare = lambda *args, **kwargs: clock(prepare(*args, **kwargs))
        return module

    benchmark_run._load = clocked
    benchmark_run._inspected = lambda step: inspected(step.plain)  # an inspection is the harness's own doing
    benchmark_run.run(script, request, result)
    Path(result).with_name(WORK).write_text(json.dumps(clock.seconds), "utf-8")
