"""Sessions: what is planned, what is run, and what is left when something breaks."""

import ast
import json
import math
import random
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from factories import MACHINE, a_claim, a_session, a_sweep, load_clean, standing, write_tree
from headroom import environment
from headroom.execution import measurement, session_lock
from headroom.execution.measurement import MeasurementSession, RunFailedError
from headroom.execution.save_evidence import EvidenceNotSavedError, keep
from headroom.execution.session_plan import MeasureError, Plan, hardware_class, plan
from headroom.io.safe_read import sha256
from headroom.records.evidence import Evidence, Slot, block_order, slot_of
from headroom.records.paths import evidence_text

CLAIM = a_claim(blocks=10)
SWEPT = a_claim("training.swept", scope=a_sweep(1, 4), blocks=12)
Request = Mapping[str, Any]


def nothing(*_: object) -> None:
    """Take no notice of progress."""


def launch(_: Path, request: Request, *, seconds: Mapping[str, float] | None = None) -> dict[str, Any]:
    """A run that takes as long as its arm says, with a little noise."""
    arm = request["arm"]
    mean = (seconds or {"plain": 0.3, "clever": 0.2}).get(arm, 0.3)
    noise = math.exp(random.gauss(0, 0.01))
    samples = {name: [mean * noise] if name == "step_time" else [2.0**20] for name in request["metrics"]}
    return {"samples": samples, "output": 2.5, "work_sha256": sha256(arm), "flops": 1e6}


def failing(at: int, error: BaseException) -> Callable[[Path, Request], dict[str, Any]]:
    """A launcher whose run of this number, from 0, breaks."""
    calls = []

    def run(script: Path, request: Request) -> dict[str, Any]:
        calls.append(request)
        if len(calls) == at + 1:
            raise error
        return launch(script, request)

    return run


@pytest.fixture(autouse=True)
def _same_noise() -> None:
    random.seed(7)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of two claims of one benchmark, with no evidence."""
    return write_tree(tmp_path, [CLAIM, SWEPT])


def session(
    root: Path, *names: str, run: Any = launch, progress: Any = nothing, seed: int | None = 3
) -> MeasurementSession:
    """A session on the made-up machine."""
    tree = load_clean(root)
    return MeasurementSession(tree, plan(tree, names or (CLAIM.id,)), MACHINE, run, progress, order_seed=seed)


def measured(what: MeasurementSession, root: Path) -> Evidence:
    """What a session measures, as its file holds it."""
    return Evidence.model_validate_json(what.measure(root).read_text(encoding="utf-8"))


class TestPlan:
    """What a session measures follows from the claims."""

    def test_each_arm_runs_once_and_each_baseline_once_more(self, root: Path) -> None:
        """With the metric that is asked for."""
        found = plan(load_clean(root), [CLAIM.id])
        slots = [Slot("plain", control=False, point=()), Slot("clever", control=False, point=())]
        expected = dict.fromkeys([*slots, Slot("plain", control=True, point=())], ("step_time",))
        assert found == Plan("made_up", (CLAIM,), expected, 10)

    def test_claims_share_their_runs(self, tmp_path: Path) -> None:
        """Metrics are united, the largest number of blocks counts, and each baseline has its own control."""
        memory = a_claim("training.memory", metric={"name": "peak_allocated"}, blocks=30)
        back = a_claim("training.back", subject="plain", baseline="clever", metric={"name": "throughput"})
        found = plan(load_clean(write_tree(tmp_path, [CLAIM, memory, back])), ["made_up"])
        assert {(slot.arm, slot.control): metrics for slot, metrics in found.slots.items()} == {
            ("plain", False): ("peak_allocated", "step_time", "throughput"),
            ("clever", False): ("peak_allocated", "step_time", "throughput"),
            ("plain", True): ("peak_allocated", "step_time"),
            ("clever", True): ("throughput",),
        }
        assert found.blocks == 30
        assert {claim.id for claim in found.claims} == {CLAIM.id, memory.id, back.id}

    def test_what_is_retired_is_measured_only_by_its_own_name(self, tmp_path: Path) -> None:
        """A session for the benchmark is for the claims that are made."""
        gone = a_claim("training.gone", retired={"since": "2026-11-21", "why": "wrong"})
        tree = load_clean(write_tree(tmp_path, [CLAIM, gone]))
        assert plan(tree, ["made_up"]).claims == (CLAIM,)
        assert plan(tree, [gone.id]).claims == (gone,)

    def test_a_sweep_has_its_slots_at_every_point(self, root: Path) -> None:
        """Three a point."""
        points = [slot.point for slot in plan(load_clean(root), [SWEPT.id]).slots]
        assert sorted(points) == [(("batch_size", 1),)] * 3 + [(("batch_size", 4),)] * 3

    def test_an_unknown_name_is_refused_with_what_is_known(self, root: Path) -> None:
        """Rather than nothing measured."""
        with pytest.raises(MeasureError, match=r"`tokens` is no measured claim.*benchmarks are: made_up"):
            plan(load_clean(root), ["tokens"])

    def test_several_benchmarks_are_several_sessions(self, tmp_path: Path) -> None:
        """The message names them."""
        other = a_claim("training.other", benchmark="another")
        tree = load_clean(write_tree(tmp_path, [CLAIM, other]))
        with pytest.raises(MeasureError, match="not another, made_up; call it for each"):
            plan(tree, [CLAIM.id, other.id])

    def test_a_first_step_is_not_timed_under_a_trace(self, tmp_path: Path) -> None:
        """Where memory is weighed, every allocation from the first one on is traced, and that takes time."""
        timed = a_claim("training.first", metric={"name": "first_step_time"})
        weighed = a_claim("training.weighed", metric={"name": "peak_allocated"})
        root = write_tree(tmp_path, [timed, weighed])
        with pytest.raises(MeasureError, match="not timed where memory is traced; name the claims about"):
            plan(load_clean(root), ["made_up"])
        assert plan(load_clean(root), ["training.first"]).claims == (timed,)

    @pytest.mark.parametrize("change", [{"threads": 2}, {"instruction_sets": ("avx2",)}, {"device": "cuda"}])
    def test_a_machine_of_no_class_measures_nothing(self, root: Path, change: dict[str, Any]) -> None:
        """The message says where to describe it."""
        with pytest.raises(MeasureError, match=r"is of no hardware class; .*checks/facts/hardware-classes\.yml"):
            hardware_class(load_clean(root), replace(MACHINE, **change))

    def test_a_machine_of_two_classes_measures_nothing(self, root: Path) -> None:
        """Exactly one has to match."""
        path = root / "checks/facts/hardware-classes.yml"
        path.write_text(path.read_text() + path.read_text().replace("cpu:\n", "twin:\n").partition("h200:")[0])
        with pytest.raises(MeasureError, match="is of cpu, twin hardware class"):
            hardware_class(load_clean(root), MACHINE)


class TestSession:
    """A session gives evidence that loads and is judged, or a journal."""

    def test_the_evidence_loads_and_supports_what_is_so(self, root: Path) -> None:
        """From a launcher's reports to a verdict, for all claims of the benchmark."""
        path = session(root, "made_up").measure(root)
        assert path.is_relative_to(root / "checks/evidence/made_up")
        for claim in (CLAIM, SWEPT):
            found = standing(root, claim)
            assert (found.status, found.reason) == ("supported", "clear")
        (kept,) = load_clean(root).sessions
        assert kept.evidence.units == {"step_time": "s"}
        assert (kept.evidence.design.blocks, kept.evidence.hardware_class) == (12, "cpu")

    def test_the_order_and_the_seeds_are_those_recorded(self, root: Path) -> None:
        """Inputs are the same within a block and differ between blocks, and are those that a run was asked for."""
        asked: list[Request] = []

        def run(script: Path, request: Request) -> dict[str, Any]:
            asked.append(request)
            assert script == root / "checks/benchmarks/made_up.py"
            return launch(script, request)

        what = session(root, SWEPT.id, run=run)
        evidence = measured(what, root)
        slots = plan(load_clean(root), [SWEPT.id]).slots
        for block in range(12):
            runs = [each for each in evidence.runs if each.block == block]
            assert [slot_of(each) for each in runs] == block_order(slots, evidence.design.order_seed, block)
            assert [each.position for each in runs] == list(range(6))
            assert len({each.input_seed for each in runs}) == 1
        assert len({each.input_seed for each in evidence.runs}) == 12
        made = [(each.arm, each.point, each.input_seed) for each in evidence.runs]
        assert made == [(each["arm"], each["point"], each["seed"]) for each in asked]
        assert {(each["device"], each["metrics"]) for each in asked} == {("cpu", ("step_time",))}
        assert {each["timed_steps"] for each in asked} == {evidence.design.timed_steps}
        assert [each["inspect"] for each in asked] == [each.block % 4 == 0 for each in evidence.runs]
        clock = [time for each in evidence.runs for time in (each.started, each.ended)]
        assert clock == sorted(clock)

    def test_a_failed_run_is_recorded_and_the_session_goes_on(self, root: Path) -> None:
        """With its place and the end of what it said."""
        error = RunFailedError("it died:\n" + "x" * 600 + "\nout of\tmemory")
        evidence = measured(session(root, run=failing(4, error)), root)
        (failure,) = evidence.failures
        lost = block_order(plan(load_clean(root), [CLAIM.id]).slots, 3, 1)[1]
        assert (failure.block, failure.position, slot_of(failure)) == (1, 1, lost)
        assert failure.reason.endswith("x out of memory")
        assert len(evidence.runs) == 29

    def test_a_session_in_which_nothing_ran_is_no_evidence(self, root: Path) -> None:
        """The message says why, and where the journal lies."""

        def run(_: Path, __: Request) -> dict[str, Any]:
            raise RunFailedError("no arm of this name")

        what = session(root, run=run)
        with pytest.raises(MeasureError, match="no run gave a result: no arm of this name") as caught:
            what.measure(root)
        assert str(what.journal) in str(caught.value)

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("disk full"), ZeroDivisionError()])
    def test_an_interruption_leaves_every_finished_run_and_no_evidence(self, root: Path, error: BaseException) -> None:
        """In the journal, a line each."""
        what = session(root, run=failing(7, error))
        with pytest.raises(type(error)):
            what.measure(root)
        head, *lines, end = [json.loads(line) for line in what.journal.read_text(encoding="utf-8").splitlines()]
        assert (head["journal"], head["benchmark"], head["runs"]) == ("session", "made_up", 30)
        outcome = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        assert (end["journal"], end["outcome"], end["reason"]) == ("end", outcome, str(error) or type(error).__name__)
        assert [(line["block"], line["position"]) for line in lines] == [divmod(i, 3) for i in range(7)]
        assert all(line["samples"]["step_time"] for line in lines)
        assert not (root / "checks/evidence").exists()
        load_clean(root)

    def test_the_journal_is_written_as_it_goes(self, root: Path) -> None:
        """When a run begins, every one before it can be read."""
        seen: list[int] = []

        def run(script: Path, request: Request) -> dict[str, Any]:
            seen.append(len(what.journal.read_text(encoding="utf-8").splitlines()))
            return launch(script, request)

        what = session(root, run=run)
        what.measure(root)
        assert seen == list(range(1, 31))

    def test_an_arm_that_keeps_nothing_ends_no_session(self, root: Path) -> None:
        """No ratio can be told of it so far, and the judge says what it makes of the samples."""
        evidence = measured(session(root, run=partial(launch, seconds={"plain": 0.3, "clever": 0.0})), root)
        assert len(evidence.runs) == 30

    def test_progress_tells_the_ratios_so_far(self, root: Path) -> None:
        """After each run, of each claim, a figure a point."""
        told: list[tuple[int, int, str]] = []
        session(root, "made_up", progress=lambda *line: told.append(line)).measure(root)
        assert [(done, total) for done, total, _ in told] == [(i + 1, 108) for i in range(108)]
        assert told[0][2] == ""
        shown = dict(part.split(" ", 1) for part in told[-1][2].split("; "))
        assert set(shown) == {"clever", "swept"}
        figures = [float(figure) for part in shown.values() for figure in part.split(", ")]
        assert figures == pytest.approx([1.5] * 3, rel=0.03)

    def test_a_terminal_that_has_gone_ends_nothing(self, root: Path) -> None:
        """Progress that cannot be shown is not shown."""

        def progress(*_: object) -> None:
            raise BrokenPipeError

        assert len(measured(session(root, progress=progress), root).runs) == 30

    def test_a_signal_does_not_come_between_what_was_measured_and_its_file(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While the evidence is written, signals that ask for the end are not heard; afterwards they are again."""

        def interrupted(*arguments: Any) -> Path:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.raise_signal(number)
            return keep(*arguments)

        monkeypatch.setattr(measurement, "keep", interrupted)
        what = session(root)
        with session_lock.stop_on_signals():
            assert what.measure(root) == what.kept
            with pytest.raises(session_lock.Stopped, match="SIGTERM"):
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    def test_a_throughput_that_rises_is_told_as_an_improvement(self, tmp_path: Path) -> None:
        """Whatever the direction of the metric."""
        claim = a_claim(metric={"name": "throughput"}, blocks=10)
        tree = load_clean(write_tree(tmp_path, [claim]))

        def run(script: Path, request: Request) -> dict[str, Any]:
            del script
            speed = 300.0 if request["arm"] == "clever" else 200.0
            return {"samples": {"throughput": [speed]}, "output": 1.0, "work_sha256": None, "flops": None}

        what = MeasurementSession(tree, plan(tree, [claim.id]), MACHINE, run, nothing)
        what.measure(tmp_path)
        assert what.ratios() == "clever 1.500"

    def test_slowdowns_are_recorded_with_the_run(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As the device says after it."""
        monkeypatch.setattr(environment, "slowdowns", lambda device: (f"{device} is hot",))
        assert {run.throttled for run in measured(session(root), root).runs} == {("cpu is hot",)}

    def test_two_sessions_never_write_the_same_file(self, root: Path) -> None:
        """Neither their journals nor their evidence."""
        sessions = [session(root, seed=None) for _ in range(3)]
        paths = {each.measure(root) for each in sessions}
        assert len(paths) == len({each.journal for each in sessions}) == 3
        assert len(load_clean(root).sessions) == 3

    def test_evidence_that_cannot_be_written_whole_is_not_written(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A full disk leaves the folder empty, and the error holds what was measured."""
        evidence = a_session(CLAIM)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(EvidenceNotSavedError, match="No space") as caught:
            keep(evidence, root, tmp_path / "spare")
        assert caught.value.text == evidence_text(evidence)
        assert not [path for folder in ("checks/evidence", "spare") for path in (root / folder).rglob("*.*")]


RUNNING = Path(measurement.__file__).parent
AROUND = {
    "session_lock": "what may be measured, before anything is",
    "journal": "what was measured, after each run",
    "save_evidence": "where evidence is written, after all runs",
    "network_block": "what a run reaches, which no benchmark does",
}
"""What a session uses besides the code that decides how a run is measured, and why that is another matter."""


def used(names: set[str]) -> set[str]:
    """These modules of the room `running`, and all that they import of it, at their top or further in."""
    found: set[str] = set()
    while names > found:
        found = set(names)
        for name in found:
            for node in ast.walk(ast.parse((RUNNING / f"{name}.py").read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headroom.execution"):
                    last = str(node.module).removeprefix("headroom.execution").lstrip(".")
                    names = names | ({last} if last else {alias.name for alias in node.names})
    return found


def test_the_hash_of_the_harness_is_of_every_module_that_measures() -> None:
    """Of a session, of the processes that it starts, and of what those import before a run."""
    assert used({"measurement", "isolation", "preload"}) == {*measurement._MEASURING, *AROUND}
    assert not {*measurement._MEASURING} & AROUND.keys()
