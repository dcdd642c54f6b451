"""A session: blocks of baseline, subject and control in seeded random order, and one evidence file at its end.

What is measured follows from the claims: their arms at their points in their metrics, and each baseline once more as
the control. A session writes a journal as it goes, and its evidence only when it is complete; whatever interrupts it
leaves the journal, and never half an evidence file. What has been measured is saved wherever there is room for it.
"""

import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from headroom import __version__, environment
from headroom.environment import MachineState
from headroom.execution import session_lock
from headroom.execution.journal import FOLDER, Journal
from headroom.execution.save_evidence import keep
from headroom.execution.session_plan import MeasureError, Plan, hardware_class
from headroom.io import python_source, safe_read
from headroom.records.claims import MeasuredClaim
from headroom.records.evidence import Design, Environment, Evidence, Failure, Run, Slot, block_order, slot_of
from headroom.records.metrics import METRICS
from headroom.records.tree import Tree

TIMEOUT_SECONDS = 600.0
WARMUP_STEPS = 1  # the first step, in which optimizer states are made and graphs compiled
TIMED_STEPS = 3
INSPECTED = 4  # every fourth block: an inspection takes as long as a step. Ten blocks have three, which a gate asks for
_MEASURING = ("session_plan", "measurement", "benchmark_run", "isolation", "fork_server", "preload")


class Launcher(Protocol):
    """What carries out one run of a script and gives back its report; ``launcher`` makes one."""

    def __call__(self, script: Path, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run it.

        Raises:
            RunFailedError: it gave no report.
        """
        ...


class RunFailedError(RuntimeError):
    """One run of a session gave no result; the session goes on without it, and says so."""


class MeasurementSession:
    """One session on one machine.

    Args:
        tree: what is known; its benchmark script is run as it lies there.
        what: what to measure.
        machine: where.
        launch: carries out a run.
        progress: called after each run with how many of all are done, and a line on the ratios so far.
        order_seed: seed of the order of each block; by default from the clock.
        hardware: the class that the evidence names; by default the one that the machine is of.

    Raises:
        MeasureError: the machine is of no class, and none is given.
        GuardError: the clock is behind the records of the tree.
    """

    def __init__(
        self,
        tree: Tree,
        what: Plan,
        machine: MachineState,
        launch: Launcher,
        progress: Callable[[int, int, str], None],
        order_seed: int | None = None,
        hardware: str | None = None,
    ) -> None:
        self._tree, self._plan, self._machine, self._launch, self._progress = tree, what, machine, launch, progress
        self._class = hardware or hardware_class(tree, machine)
        self._began, self._clock = session_lock.now(tree), time.monotonic()
        self._seed = time.time_ns() % 2**31 if order_seed is None else order_seed
        self._script = tree.root / f"checks/benchmarks/{what.benchmark}.py"
        self._syntax = self._script_syntax()
        self._runs: list[Run] = []
        self._failures: list[Failure] = []
        name = f"{what.benchmark}-{self._began:%Y%m%dT%H%M%S}-{self._seed}.jsonl"
        self.journal = tree.root / FOLDER / name
        self.kept: Path | None = None
        """The evidence, once it is written."""
        self._total = what.blocks * len(what.slots)

    def _script_syntax(self) -> str:
        return python_source.syntax_sha256(safe_read.read_text(self._script, self._tree.root))

    def measure(self, home: Path) -> Path:
        """Run every block, write the evidence below ``home``, and return its path.

        Raises:
            MeasureError: no run gave a result, or somebody has changed the script meanwhile.
            NotKeptError: the evidence could not be written there.
            UnwritableError: the journal cannot be begun; nothing was run.
        """
        with Journal(self.journal, self._header()) as journal:
            for block in range(self._plan.blocks):
                for position, slot in enumerate(block_order(self._plan.slots, self._seed, block)):
                    unwritten = journal.add(self._one(block, position, slot))
                    told = f"no journal ({unwritten}); {self.ratios()}" if unwritten else self.ratios()
                    with suppress(OSError):  # a terminal that has gone is no reason to end
                        self._progress(len(self._runs) + len(self._failures), self._total, told)
            with session_lock.undisturbed():
                self.kept = path = keep(self._evidence(), home, self.journal.parent)
                journal.complete(path, clock_moved_seconds=round(self.clock_moved))
        return path

    @property
    def clock_moved(self) -> float:
        """Seconds by which the clock was set since the session began."""
        return (datetime.now(UTC) - self._began).total_seconds() - (time.monotonic() - self._clock)

    def _header(self) -> dict[str, Any]:
        """What the journal says of the session before its first run."""
        return {
            "benchmark": self._plan.benchmark,
            "began": f"{self._began:%Y-%m-%dT%H:%M:%SZ}",
            "pid": os.getpid(),
            "claims": [claim.id for claim in self._plan.claims],
            "blocks": self._plan.blocks,
            "runs": self._total,
            "slots": [
                {"arm": slot.arm, "control": slot.control, "point": dict(slot.point), "metrics": metrics}
                for slot, metrics in self._plan.slots.items()
            ],
            "order_seed": self._seed,
            "hardware_class": self._class,
            "machine": asdict(self._machine),
        }

    def _one(self, block: int, position: int, slot: Slot) -> Run | Failure:
        where = {"block": block, "position": position, "arm": slot.arm, "control": slot.control}
        place: dict[str, Any] = {**where, "point": dict(slot.point)}
        seed = self._seed % 1_000_003 + block
        request = {
            "arm": slot.arm,
            "point": dict(slot.point),
            "seed": seed,
            "device": self._machine.device,
            "metrics": self._plan.slots[slot],
            "timed_steps": TIMED_STEPS,
            "inspect": block % INSPECTED == 0,
        }
        started = time.monotonic() - self._clock
        try:
            report = self._launch(self._script, request)
            ended, throttled = time.monotonic() - self._clock, environment.slowdowns(self._machine.device)
            run = Run(**place, input_seed=seed, started=started, ended=ended, throttled=throttled, **report)
        except (RunFailedError, ValueError) as error:  # a loss that is not a number is no report either
            failure = Failure(**place, reason=" ".join(str(error).split())[-500:])
            self._failures.append(failure)
            return failure
        self._runs.append(run)
        return run

    def ratios(self) -> str:
        """The median ratio so far of each claim, at each of its points, over the blocks that are complete."""
        found: dict[tuple[int, Slot], Run] = {(run.block, slot_of(run)): run for run in self._runs}
        return "; ".join(part for claim in self._plan.claims if (part := _ratio(claim, found)))

    def _evidence(self) -> Evidence:
        if not self._runs:
            raise MeasureError(f"no run gave a result: {self._failures[-1].reason}; see {self.journal}")
        if self._script_syntax() != self._syntax:
            raise MeasureError(f"{self._script} was changed during the session; measure again, and leave it alone")
        names = {name for run in self._runs for name in run.samples}
        return Evidence(
            benchmark=self._plan.benchmark,
            benchmark_syntax_sha256=self._syntax,
            harness=f"{__version__} ({_harness_sha256()[:12]})",
            date=f"{self._began:%Y-%m-%d}",
            time=f"{self._began:%H:%M:%S}",
            hardware_class=self._class,
            environment=Environment(**asdict(self._machine)),
            design=Design(
                blocks=self._plan.blocks,
                order_seed=self._seed,
                warmup_steps=WARMUP_STEPS,
                timed_steps=TIMED_STEPS,
                timer="time.perf_counter",
                synchronised=self._machine.device == "cuda",
                process="its own, forked from one that has imported the libraries and done nothing else",
            ),
            units={name: METRICS[name].unit for name in sorted(names)},
            runs=tuple(self._runs),
            failures=tuple(self._failures),
        )


def _harness_sha256() -> str:
    """A hash of the code that measures: two sessions with the same one were measured in the same way."""
    here = Path(__file__).parent
    sources = [(here / f"{name}.py").read_text(encoding="utf-8") for name in _MEASURING]
    return safe_read.sha256("".join(map(python_source.syntax_sha256, sources)))


def _ratio(claim: MeasuredClaim, found: Mapping[tuple[int, Slot], Run]) -> str:
    """The running ratio of one claim, as ``id 1.234, 1.345``, one figure a point."""
    parts = []
    for point in claim.scope.points:
        at = tuple(sorted(point.items()))
        ratios = []
        for block in {number for number, _ in found}:
            baseline = found.get((block, Slot(claim.baseline, control=False, point=at)))
            subject = found.get((block, Slot(claim.subject, control=False, point=at)))
            name = claim.metric.name
            values = [median(run.samples[name]) for run in (baseline, subject) if run]
            if len(values) > 1 and min(values) > 0:
                logs = [math.log(value) for value in values]
                ratios.append(logs[0] - logs[1] if METRICS[name].better == "lower" else logs[1] - logs[0])
        if ratios:
            parts.append(f"{math.exp(median(ratios)):.3f}")
    return f"{claim.id.partition('.')[2]} {', '.join(parts)}" if parts else ""


def launcher(run: Callable[..., Any]) -> Launcher:
    """A launcher that runs scripts through a nursery's ``run``, each in a folder of its own."""
    from headroom.execution import benchmark_run  # noqa: PLC0415 - imports torch; only a real session pays for it

    def launch(script: Path, request: Mapping[str, Any]) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "report.json"
            outcome = run(
                benchmark_run.run,
                str(script.resolve()),
                dict(request),
                str(result),
                timeout=TIMEOUT_SECONDS,
                memory_limit=environment.memory_bytes() * 9 // 10,
                cwd=Path(folder),
            )
            if not result.exists():
                last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1]
                limit = "timed out" if outcome.timed_out else "ran out of memory" if outcome.over_memory else "failed"
                raise RunFailedError(f"the run {limit}: {last}")
            report: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        if "peak_rss" in request["metrics"]:
            report["samples"]["peak_rss"] = [float(outcome.peak_memory_bytes)]
        return {**report, "others_cpu": outcome.others_cpu}

    return launch
