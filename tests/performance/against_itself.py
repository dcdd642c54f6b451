"""Sessions of a step against itself, one after the other, in the processes and by the rules of every other session.

Run it by hand, on a machine that does nothing else: `python tests/performance/against_itself.py [COUNT]`. It adds COUNT
evidence files, which the page `claims/harness` counts from. They are what `headroom measure` would write, without the
wait for the libraries before each. Ctrl-C ends it; the sessions that are complete stay.
"""

import sys
from pathlib import Path

from headroom import environment
from headroom.execution import measurement, session_lock, session_plan
from headroom.execution.isolation import QUIET, ForkServer
from headroom.records import load

ROOT = Path(__file__).resolve().parents[2]
BENCHMARK = "gpt2_step_against_itself"


def main(count: int) -> None:
    """Add so many sessions."""
    tree = load(ROOT)
    what = session_plan.plan(tree, [BENCHMARK])
    with session_lock.exclusive_session(ROOT), session_lock.stop_on_signals(), ForkServer(QUIET) as server:
        server.start()
        for number in range(count):
            machine = environment.observe("auto", threads=int(QUIET["OMP_NUM_THREADS"]))
            launch = measurement.launcher(server.run)
            path = measurement.MeasurementSession(tree, what, machine, launch, lambda *_: None).measure(ROOT)
            print(f"{number + 1} of {count}: {path.name}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
