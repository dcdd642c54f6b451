"""Run a measurement session: randomized blocks of baseline, subject and control, then one evidence file.

The claims determine the arms, points and metrics; each baseline runs a second time as the control. A session writes a
journal as it runs, and its evidence file only at the end. An interrupted session leaves its journal and no evidence
file. If the evidence file cannot be written to its place, it is saved to another folder that has space.
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
WARMUP_STEPS = 1  # the first step, which creates the optimizer states and compiles graphs
TIMED_STEPS = 3
INSPECTED = 4  # every fourth block: an inspection takes as long as a step. Ten blocks have three, which a gate needs
_MEASURING = (
    *("session_plan", "measurement", "benchmark_run", "rank_processes", "collectives"),
    *("script_child", "isolation", "fork_server", "preload"),
)


class Launcher(Protocol):
    """A function that runs a benchmark script once and returns its report; ``launcher`` makes one."""

    def __call__(self, script: Path, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the script and return its report.

        Raises:
            RunFailedError: the run gave no report.
        """
        ...


class RanksLostError(MeasureError):
    """A rank died or did not answer; the session ends, because later runs would wait for it as well."""


class RunFailedError(RuntimeError):
    """One run of a session gave no result; the session records the failure and continues."""


class MeasurementSession:
    """One session on one machine.

    Args:
        tree: the tree with the claims and the benchmark script.
        what: the plan of the session.
        machine: this machine.
        launch: runs the script once.
        progress: called after each run with the number of finished runs, the total, and the ratios so far as text.
        order_seed: seed of the order within the blocks; by default from the clock.
        hardware: the hardware class that the evidence names; by default that of the machine.

    Raises:
        MeasureError: the machine matches no hardware class, and none is given.
        GuardError: the clock is behind the newest record of the tree.
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
        """The path of the evidence file; None until it is written."""
        self._total = what.blocks * len(what.slots)

    def _script_syntax(self) -> str:
        return python_source.syntax_sha256(safe_read.read_text(self._script, self._tree.root))

    def measure(self, home: Path) -> Path:
        """Run every block, write the evidence below ``home``, and return its path.

        Raises:
            MeasureError: no run gave a result, or the script was edited during the session.
            EvidenceNotSavedError: the evidence could not be written below ``home``.
            UnwritableError: the journal cannot be created; nothing was run.
        """
        with Journal(self.journal, self._header()) as journal:
            for block in range(self._plan.blocks):
                for position, slot in enumerate(block_order(self._plan.slots, self._seed, block)):
                    error = journal.add(self._run_one(block, position, slot))
                    status = f"journal not written ({error}); {self.ratios()}" if error else self.ratios()
                    with suppress(OSError):  # a closed terminal does not end the session
                        self._progress(len(self._runs) + len(self._failures), self._total, status)
            with session_lock.signals_ignored():
                self.kept = path = keep(self._evidence(), home, self.journal.parent)
                journal.complete(path, clock_moved_seconds=round(self.clock_moved))
        return path

    @property
    def clock_moved(self) -> float:
        """Seconds by which the system clock was adjusted since the session started."""
        return (datetime.now(UTC) - self._began).total_seconds() - (time.monotonic() - self._clock)

    def _header(self) -> dict[str, Any]:
        """Return the fields of the journal's first line."""
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

    def _run_one(self, block: int, position: int, slot: Slot) -> Run | Failure:
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
        except RanksLostError:
            raise
        except (RunFailedError, ValueError) as error:  # ValueError: the report is invalid, as with a loss of NaN
            failure = Failure(**place, reason=" ".join(str(error).split())[-500:])
            self._failures.append(failure)
            return failure
        self._runs.append(run)
        return run

    def ratios(self) -> str:
        """Return the median ratio so far of each claim, at each of its points, over the complete blocks."""
        found: dict[tuple[int, Slot], Run] = {(run.block, slot_of(run)): run for run in self._runs}
        return "; ".join(part for claim in self._plan.claims if (part := _ratio(claim, found)))

    def _evidence(self) -> Evidence:
        if not self._runs:
            raise MeasureError(f"no run gave a result: {self._failures[-1].reason}; see {self.journal}")
        if self._script_syntax() != self._syntax:
            raise MeasureError(
                f"{self._script} was changed during the session; measure again without editing it meanwhile"
            )
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
    """Return a hash of the measuring code: sessions with equal hashes were measured in the same way."""
    here = Path(__file__).parent
    sources = [(here / f"{name}.py").read_text(encoding="utf-8") for name in _MEASURING]
    return safe_read.sha256("".join(map(python_source.syntax_sha256, sources)))


def _ratio(claim: MeasuredClaim, found: Mapping[tuple[int, Slot], Run]) -> str:
    """Return the ratios so far of one claim, as ``id 1.234, 1.345``, one per point."""
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
    """Return a launcher that calls a fork server's ``run``, with a temporary folder for each run."""
    from headroom.execution import benchmark_run, rank_processes  # noqa: PLC0415 - only a real session needs torch

    def launch(script: Path, request: Mapping[str, Any]) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "report.json"
            outcome = run(
                rank_processes.run if "ranks" in request["point"] else benchmark_run.run,
                str(script.resolve()),
                dict(request),
                str(result),
                timeout=TIMEOUT_SECONDS,
                memory_limit=environment.memory_bytes() * 9 // 10,
                cwd=Path(folder),
            )
            if not result.exists():
                last = (outcome.stderr.strip().splitlines() or ["no error message"])[-1]
                limit = "timed out" if outcome.timed_out else "ran out of memory" if outcome.over_memory else "failed"
                raise RunFailedError(f"the run {limit}: {last}")
            report: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        if "lost" in report:
            raise RanksLostError(f"{report['lost']}; the session ends here")
        if "peak_rss" in request["metrics"]:
            report["samples"]["peak_rss"] = [float(outcome.peak_memory_bytes)]
        return {**report, "others_cpu": outcome.others_cpu}

    return launch
