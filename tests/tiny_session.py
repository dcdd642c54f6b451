"""Run the real command in a separate process, with short runs without torch, and with faults on request.

`python tiny_session.py FAULTS COMMAND …`: FAULTS is a JSON object, and the rest are arguments of `headroom`. Every
finished run adds a line to the file that FINISHED names in the environment.
"""

import hashlib
import itertools
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def step(request: Mapping[str, Any], result: str) -> None:
    """Wait, write the report of a run, and log that the run has finished."""
    time.sleep(request.get("wait", 0.01))
    seconds = {"plain": 0.3}.get(request["arm"], 0.2) + request["seed"] % 7 / 1e4
    report = {"samples": {"step_time": [seconds]}, "output": 2.5, "work_sha256": None, "flops": None}
    if request.get("complete"):
        seconds += request["noise"]
        work = hashlib.sha256(request["arm"].encode()).hexdigest()
        report |= {"samples": {"step_time": [seconds]}, "work_sha256": work, "flops": 1e6}
    report["others_cpu"] = request["others_cpu"]
    Path(result).write_text(json.dumps(report), "utf-8")
    with Path(os.environ["FINISHED"]).open("a", encoding="utf-8") as finished:
        finished.write(f"{request['arm']}\n")


def memory_step(step: str, device: str, root: str, result: str) -> None:
    """Wait, and write a measured step, without torch."""
    del root
    time.sleep(float(os.environ["MEMORY_WAIT"]))
    Path(result).write_text(
        json.dumps({**json.loads(step), "device": device, "traced": 1010, "measured": 1000}), "utf-8"
    )


def launcher(wait: float, *, complete: bool = False, others_cpu: float | None = None) -> Callable[..., Any]:
    """Return a replacement for `measurement.launcher` that needs no torch; others use a share of the cores.

    Its noise is the same in every process: with another one, the control fails in one of twenty sessions.
    """
    import tiny_session  # noqa: PLC0415 - so that the child finds the work under this name

    noise = random.Random(7)  # noqa: S311 - noise, not a secret

    def made(run: Callable[..., Any]) -> Callable[..., Any]:
        def launch(script: Path, request: Mapping[str, Any]) -> Any:
            del script
            with tempfile.TemporaryDirectory() as folder:
                result = Path(folder) / "report.json"
                asked = {**request, "wait": wait, "complete": complete, "others_cpu": others_cpu}
                asked["noise"] = noise.uniform(0, 1e-3)
                run(tiny_session.step, asked, str(result), timeout=60, memory_limit=1 << 40, cwd=Path(folder))
                return json.loads(result.read_text("utf-8"))

        return launch

    return made


def clock(first: str, jump: float) -> Any:
    """Return a `datetime` whose first `now` is a given moment, and whose later ones are shifted by `jump` seconds."""
    start = time.monotonic()
    asked: list[int] = []

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            asked.append(1)
            moment = datetime.fromisoformat(first).replace(tzinfo=tz)
            return moment + timedelta(seconds=time.monotonic() - start + jump * (len(asked) > 1))

    return Clock


def main(faults: Mapping[str, Any], arguments: list[str]) -> int:
    """Run the command with these faults."""
    from factories import MACHINE  # noqa: PLC0415
    from headroom import cli, environment  # noqa: PLC0415 - only this process needs it
    from headroom.cli import measure_memory, terminal  # noqa: PLC0415
    from headroom.execution import isolation, measurement, preloads, session_lock  # noqa: PLC0415

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # whatever the tests were started by: nohup ignores one, a shell another
    import tiny_session  # noqa: PLC0415 - as above

    measure_memory.work = tiny_session.memory_step
    os.environ["MEMORY_WAIT"] = str(faults.get("wait", 0.01))
    measurement.launcher = launcher(
        faults.get("wait", 0.01), complete=faults.get("complete", False), others_cpu=faults.get("others_cpu")
    )
    orders = itertools.count(faults.get("order", 7))  # not from the clock, for the same reason as the noise
    measurement.time = SimpleNamespace(monotonic=time.monotonic, time_ns=lambda: next(orders))  # type: ignore[assignment]
    environment.observe = lambda *_, **__: MACHINE  # type: ignore[assignment]
    preloads.modules = lambda _device: ()  # type: ignore[assignment]  # nothing to import first
    if moment := faults.get("clock"):
        session_lock.datetime = measurement.datetime = clock(moment, faults.get("jump", 0.0))  # type: ignore[assignment]
    if where := faults.get("full"):
        real = os.fsync

        def fsync(handle: int) -> None:
            if where in str(Path(f"/proc/self/fd/{handle}").readlink()):
                raise OSError(28, "No space left on device")
            real(handle)

        os.fsync = fsync
    if faults.get("late"):
        left = isolation.ForkServer.__exit__

        def late(*arguments: Any) -> None:
            left(*arguments)
            signal.raise_signal(signal.SIGTERM)

        isolation.ForkServer.__exit__ = late  # type: ignore[method-assign]
    if "long" in faults:
        terminal.LONG_SECONDS = faults["long"]
    if largest := faults.get("largest"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
