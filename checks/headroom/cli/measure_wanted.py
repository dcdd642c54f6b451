"""``headroom measure --wanted``: measure within a time limit what has no evidence on this machine's hardware class.

Each result is written as it comes, so a killed command loses at most the session that runs. The next call goes on with
what is missing.
"""

import argparse
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from headroom import environment
from headroom.cli import FAILED, OK, measure_memory, terminal
from headroom.cli.terminal import duration, say
from headroom.environment import MachineState
from headroom.execution import hardware_class_draft, journal, lent_pack, machine_record, session_lock, session_plan
from headroom.execution import wanted as choice
from headroom.io import atomic_write
from headroom.records import Tree, load
from headroom.records.memory_errors import ComparedStep, step_path

SNIPPET_SECONDS = 60.0
MACHINE_SECONDS = 180.0
RESERVE_SECONDS = 10.0  # for the last evidence file and the pack


def run(root: Path, options: argparse.Namespace) -> int:
    """Measure until the time is up or nothing is missing; write the pack, and print what was added."""
    try:
        tree = load(root)
        loan = _Loan(root, *_here(tree, options.device), options.minutes * 60, options.slice * 60)
        if options.pack:
            atomic_write.probe(options.pack.absolute().parent)
        with session_lock.exclusive_session(root), session_lock.stop_on_signals() as loan.caught:
            loan.use()
    except terminal.CANNOT_START as error:
        return terminal.cannot_start(error)
    except KeyboardInterrupt as stopped:
        say(f"ended by {stopped}; what is complete is in the tree, and the same command goes on")
    with session_lock.signals_ignored():
        packed = lent_pack.write(load(root), loan.machine, loan.hardware, options.pack) if options.pack else []
    _report(loan, packed, options)
    return FAILED if loan.caught else OK


def _here(tree: Tree, device: str) -> tuple[MachineState, str]:
    """Return this machine and its hardware class, or the id of a class that could be added for it.

    Raises:
        MeasureError: the machine matches several classes.
    """
    from headroom.execution.isolation import QUIET  # noqa: PLC0415 - needed only to measure

    machine = environment.observe(device, threads=int(QUIET["OMP_NUM_THREADS"]))
    if session_plan.classes(tree, machine):
        return machine, session_plan.hardware_class(tree, machine)
    name = hardware_class_draft.class_id(machine)
    say(f"this machine matches no hardware class; its records name `{name}`. Before adopting them, add this class:")
    print(hardware_class_draft.entry(machine), flush=True)
    return machine, name


def _report(loan: "_Loan", packed: list[str], options: argparse.Namespace) -> None:
    file = str(options.pack) if options.pack else None
    if options.json:
        print(json.dumps({"hardware_class": loan.hardware, "added": loan.added, "packed": packed, "pack": file}))
        return
    for name in loan.added:
        print(name)
    if file:
        say(f"{len(packed)} records are packed in {file}; `headroom adopt {file}` adds them to another clone")


@dataclass
class _Loan:
    """The time for which a machine is lent."""

    root: Path
    machine: MachineState
    hardware: str
    seconds: float
    longest: float
    """The longest session, in seconds."""
    began: float = field(default_factory=time.monotonic)
    caught: list[str] = field(default_factory=list)
    """The signal that ended the command, if one did."""
    added: list[str] = field(default_factory=list)
    """The records that were written."""

    def use(self) -> None:
        """Measure steps for the estimator, run the snippets for a GPU, measure the machine, then run sessions."""
        if unfinished := journal.close_unfinished(self.root):
            say(f"earlier sessions did not finish: {'; '.join(map(str, unfinished))}")
        atomic_write.probe(self.root / "checks/evidence")
        versions = ", ".join(f"{name} {number}" for name, number in self.machine.versions.items())
        say(f"{self.machine.product} ({self.hardware}), {versions}; {duration(self.left)}")
        self._measure_memory()
        if self.machine.device == "cuda":
            self._run_snippets()
        self._measure_machine()
        self._measure_claims()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.began + self.seconds - RESERVE_SECONDS - time.monotonic()

    def _say(self, message: str) -> None:
        say(f"[{duration(max(self.left, 0))} left] {message}")

    def _add(self, path: Path) -> None:
        self.added.append(str(path.relative_to(self.root)))

    def _measure_memory(self) -> None:
        """Write the memory of each step that estimates are compared with and that has no record of this class."""
        from headroom.execution import preloads  # noqa: PLC0415 - needed only to measure
        from headroom.execution.isolation import QUIET, ForkServer  # noqa: PLC0415 - as above

        tree = load(self.root)
        order, wanted = tree.measuring_order.memory_of(self.machine.device), list[ComparedStep]()
        if order:
            wanted = [each for each in order.steps if not (self.root / step_path(self.hardware, each)).exists()]
        if not order or not wanted or self.left < order.seconds:
            return
        today = f"{session_lock.now(tree):%Y-%m-%d}"
        with ForkServer(QUIET, preloads.modules(self.machine.device)) as server:
            lent = measure_memory.LentMachine(self.machine, self.hardware, today, self.root, server.run)
            for step in wanted:
                if self.left < order.seconds:
                    return
                self._say(f"memory of {step.model}, {measure_memory.in_words(step)}")
                try:
                    self._add(lent.record(step, self.left))
                except RuntimeError as error:  # the step failed, or the fork server
                    say(str(error))

    def _run_snippets(self) -> None:
        """Run the snippets that need a GPU and have no record of this class, and write their records."""
        from headroom.cli import snippets_run  # noqa: PLC0415 - needed only with a GPU
        from headroom.execution import preloads, snippet_runner  # noqa: PLC0415 - as above

        tree = load(self.root)
        today = f"{session_lock.now(tree):%Y-%m-%d}"
        runner = snippet_runner.Runner(tree, self.root / ".cache", preload=preloads.modules("cuda"))
        try:
            for snippet in tree.snippets.values():
                known = tree.runs.get((snippet.id, self.hardware))
                current = known is not None and known.sha256 == snippet.sha256
                if "cuda" not in snippet.header.needs or current or self.left < SNIPPET_SECONDS:
                    continue
                result, ablated = snippets_run.run_both(runner, snippet)
                seen = snippets_run.outcome(snippet.id, result, ablated)
                self._say("{snippet}: {outcome} {detail}".format(**seen).rstrip())
                if seen["outcome"] == "passed":
                    detected = snippets_run.detected(ablated)
                    record = snippet_runner.record(result, detected, snippet, self.hardware, today)
                    self._add(snippet_runner.write(record, self.root))
        except RuntimeError as error:
            say(f"the snippets cannot run: {error}")
        finally:
            runner.close()

    def _measure_machine(self) -> None:
        """Write a machine record, unless the tree has one of this class."""
        from headroom.execution.isolation import QUIET, ForkServer  # noqa: PLC0415 - needed only to measure

        tree = load(self.root)
        if self.left < MACHINE_SECONDS or self.hardware in {each.hardware_class for each in tree.machines.values()}:
            return
        self._say(f"matmuls, bandwidth and launches of this machine, about {duration(MACHINE_SECONDS)}")
        today = f"{session_lock.now(tree):%Y-%m-%d}"
        try:
            with ForkServer(QUIET, preload=("torch",)) as server:
                found = machine_record.measure(self.machine, self.hardware, today, server.run)
            self._add(machine_record.keep(found, self.root))
        except RuntimeError as error:
            say(str(error))

    def _measure_claims(self) -> None:
        """Run one session after the other, the most wanted first, each within the time that is left."""
        tried = journal.failed_claims(self.root)
        if tried:
            say(f"left out, because a session failed before: {', '.join(sorted(tried))}; .cache/journals/ says why")
        while True:
            tree = load(self.root)
            sessions = list(choice.wanted_sessions(tree, self.hardware, self.machine.device, self.longest, tried))
            best = next((each for each in sessions if each.seconds <= self.left), None)
            if best is None:
                self._say(f"{len(sessions)} sessions are still wanted" if sessions else "nothing else is wanted")
                return
            tried |= {*best.claims}
            self._measure(tree, best)

    def _measure(self, tree: Tree, best: choice.WantedSession) -> None:
        """Run one session; it may fail, and only a signal ends the loan."""
        self._say(f"{best.benchmark}, about {duration(best.seconds)}: {', '.join(best.claims)}")
        deadline = time.monotonic() + self.left
        what = session_plan.plan(tree, best.claims)
        session = terminal.run_session(tree, what, self.root, self.machine, self.hardware, deadline)
        if not isinstance(session, int) and session.kept:
            self._add(session.kept)
        if self.caught:
            raise session_lock.Stopped(self.caught[0])
