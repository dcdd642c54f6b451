"""Measure a step against itself in real sessions, and add each to the file that the page about the harness counts from.

Run it by hand: `python tests/harness/measure.py SERIES [COUNT]`, with `headroom[snippets]` installed. A session is one
of `headroom measure`: the same planning, order, processes, journal and evidence. Of its evidence one line is kept in
`tests/harness/SERIES.jsonl`, with the raw times and what the benchmark itself took of each run. Sessions are added
one by one, so that it can be ended at any time, and none is ever left out.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import clocked
from headroom import environment, writing
from headroom.records import Evidence, MeasuredClaim, load
from headroom.records.claims import Metric, Scope
from headroom.records.evidence import slot_of
from headroom.running import measuring, planning
from headroom.running.isolation import QUIET, Nursery

ARMS = ("a step", "the same step")
POINT = {"batch_size": 1}
BLOCKS = 10
CLAIM = MeasuredClaim(
    id="harness.step-against-itself",
    statement="A step takes less time than the same step.",
    kind="measured",
    method="none",
    guide="none.md",
    not_claimed=("Anything: the arms are one.",),
    benchmark="step",
    baseline=ARMS[0],
    subject=ARMS[1],
    metric=Metric(name="step_time"),
    blocks=BLOCKS,
    tolerance=0,
    scope=Scope(fixed={"model": "GPT-2, a twelfth of it"}, at=POINT, hardware=("cpu-avx512-bf16",)),
)


def session(root: Path, run: Callable[..., Any]) -> dict[str, Any]:
    """One session, as a line of the file.

    Args:
        root: a tree with the benchmark and the hardware classes.
        run: a nursery's.
    """
    work: list[float] = []

    def on_the_clock(_: Callable[..., Any], script: str, request: dict[str, Any], result: str, **limits: Any) -> Any:
        outcome = run(clocked.run, script, request, result, **limits)
        work.append(json.loads(Path(result).with_name(clocked.WORK).read_text("utf-8")))
        return outcome

    slots = dict.fromkeys(planning.slots_of(CLAIM), (CLAIM.metric.name,))
    what = planning.Plan(CLAIM.benchmark, (CLAIM,), slots, BLOCKS)
    machine = environment.observe("cpu", threads=int(QUIET["OMP_NUM_THREADS"]))
    began = time.monotonic()
    made = measuring.Session(load(root), what, machine, measuring.launcher(on_the_clock), lambda *_: None)
    path = made.measure(root)
    seconds = time.monotonic() - began
    return line(Evidence.model_validate_json(path.read_text("utf-8")), work, seconds)


def line(evidence: Evidence, work: list[float], seconds: float) -> dict[str, Any]:
    """What is kept of a session: where and when, and of each run its slot, its times and the benchmark's own seconds."""
    roles = {slot: role for slot, role in zip(planning.slots_of(CLAIM), ("baseline", "subject", "control"), strict=True)}
    rows = [
        [
            run.block,
            roles[slot_of(run)],
            [round(sample, 6) for sample in run.samples["step_time"]],
            round(seconds_of_work, 4),
        ]
        for run, seconds_of_work in zip(evidence.runs, work, strict=True)
    ]
    told = evidence.environment
    return {
        "date": evidence.date,
        "class": evidence.hardware_class,
        "product": told.product,
        "versions": told.versions,
        "harness": evidence.harness,
        "load_before": told.load_before,
        "order_seed": evidence.design.order_seed,
        "seconds": round(seconds, 3),
        "runs": rows,
    }


def main(series: str, count: int) -> None:
    """Add sessions to a series, one by one."""
    kept = HERE / f"{series}.jsonl"
    with tempfile.TemporaryDirectory() as folder, Nursery(QUIET) as nursery:
        root = Path(folder)
        (root / "checks/benchmarks").mkdir(parents=True)
        shutil.copy(HERE / "step.py", root / "checks/benchmarks/step.py")
        shutil.copytree(HERE.parents[1] / "checks/facts", root / "checks/facts")
        nursery.run(time.sleep, 0, timeout=600, memory_limit=1 << 40, cwd=root)  # so that no session pays for imports
        for number in range(count):
            text = kept.read_text("utf-8") if kept.exists() else ""
            writing.write_atomic(kept, text + json.dumps(session(root, nursery.run)) + "\n")
            print(f"{number + 1} of {count}, load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
