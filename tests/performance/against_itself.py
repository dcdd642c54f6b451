"""Measure sessions that compare a training step with itself (A/A sessions).

Run it by hand on an idle machine: `python tests/performance/against_itself.py [COUNT]`. It adds COUNT evidence files,
as `headroom measure` would, but imports the libraries once. The page `claims/harness` uses them. Ctrl-C ends it;
complete sessions stay.
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
    """Measure and write a number of sessions."""
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
