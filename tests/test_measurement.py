"""Test measurement sessions: the plan, the runs, the evidence, and failures."""

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
    """Ignore progress."""


def launch(_: Path, request: Request, *, seconds: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return the report of a run with its arm's time and 1 % noise."""
    arm = request["arm"]
    mean = (seconds or {"plain": 0.3, "clever": 0.2}).get(arm, 0.3)
    noise = math.exp(random.gauss(0, 0.01))
    samples = {name: [mean * noise] if name == "step_time" else [2.0**20] for name in request["metrics"]}
    return {"samples": samples, "output": 2.5, "work_sha256": sha256(arm), "flops": 1e6}


def failing(at: int, error: BaseException) -> Callable[[Path, Request], dict[str, Any]]:
    """Return a launcher whose run of this number, from 0, raises the error."""
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
    """Return a tree with two claims of one benchmark and no evidence."""
    return write_tree(tmp_path, [CLAIM, SWEPT])


def session(
    root: Path, *names: str, run: Any = launch, progress: Any = nothing, seed: int | None = 3
) -> MeasurementSession:
    """Return a session on the made-up machine."""
    tree = load_clean(root)
    return MeasurementSession(tree, plan(tree, names or (CLAIM.id,)), MACHINE, run, progress, order_seed=seed)


def measured(what: MeasurementSession, root: Path) -> Evidence:
    """Run a session and return its evidence."""
    return Evidence.model_validate_json(what.measure(root).read_text(encoding="utf-8"))


class TestPlan:
    """The plan of a session follows from the claims."""

    def test_block_has_each_arm_once_and_the_baseline_twice(self, root: Path) -> None:
        found = plan(load_clean(root), [CLAIM.id])
        slots = [Slot("plain", control=False, point=()), Slot("clever", control=False, point=())]
        expected = dict.fromkeys([*slots, Slot("plain", control=True, point=())], ("step_time",))
        assert found == Plan("made_up", (CLAIM,), expected, 10)

    def test_claims_share_runs_metrics_and_blocks(self, tmp_path: Path) -> None:
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

    def test_retired_claim_is_measured_only_by_its_id(self, tmp_path: Path) -> None:
        gone = a_claim("training.gone", retired={"since": "2026-11-21", "why": "wrong"})
        tree = load_clean(write_tree(tmp_path, [CLAIM, gone]))
        assert plan(tree, ["made_up"]).claims == (CLAIM,)
        assert plan(tree, [gone.id]).claims == (gone,)

    def test_sweep_has_three_runs_per_point(self, root: Path) -> None:
        points = [slot.point for slot in plan(load_clean(root), [SWEPT.id]).slots]
        assert sorted(points) == [(("batch_size", 1),)] * 3 + [(("batch_size", 4),)] * 3

    def test_unknown_name_is_refused_with_the_benchmarks(self, root: Path) -> None:
        with pytest.raises(MeasureError, match=r"`tokens` is neither a measured claim.*benchmarks are: made_up"):
            plan(load_clean(root), ["tokens"])

    def test_claims_of_several_benchmarks_are_refused(self, tmp_path: Path) -> None:
        other = a_claim("training.other", benchmark="another")
        tree = load_clean(write_tree(tmp_path, [CLAIM, other]))
        with pytest.raises(MeasureError, match=r"not several \(another, made_up\); measure each separately"):
            plan(tree, [CLAIM.id, other.id])

    def test_first_step_time_and_memory_need_separate_sessions(self, tmp_path: Path) -> None:
        """The memory trace covers every allocation from the first on, and slows the first step down."""
        timed = a_claim("training.first", metric={"name": "first_step_time"})
        memory = a_claim("training.memory", metric={"name": "peak_allocated"})
        root = write_tree(tmp_path, [timed, memory])
        with pytest.raises(MeasureError, match="cannot be measured while memory is traced; measure the claims about"):
            plan(load_clean(root), ["made_up"])
        assert plan(load_clean(root), ["training.first"]).claims == (timed,)

    @pytest.mark.parametrize("change", [{"threads": 2}, {"instruction_sets": ("avx2",)}, {"device": "cuda"}])
    def test_machine_that_matches_no_class_is_refused(self, root: Path, change: dict[str, Any]) -> None:
        with pytest.raises(MeasureError, match=r"matches no hardware class; .*checks/facts/hardware-classes\.yml"):
            hardware_class(load_clean(root), replace(MACHINE, **change))

    def test_machine_that_matches_two_classes_is_refused(self, root: Path) -> None:
        path = root / "checks/facts/hardware-classes.yml"
        path.write_text(path.read_text() + path.read_text().replace("cpu:\n", "twin:\n").partition("h200:")[0])
        with pytest.raises(MeasureError, match=r"matches several hardware classes \(cpu, twin\)"):
            hardware_class(load_clean(root), MACHINE)


class TestSession:
    """A session gives evidence, or a journal."""

    def test_evidence_loads_and_supports_its_claims(self, root: Path) -> None:
        path = session(root, "made_up").measure(root)
        assert path.is_relative_to(root / "checks/evidence/made_up")
        for claim in (CLAIM, SWEPT):
            found = standing(root, claim)
            assert (found.status, found.reason) == ("supported", "clear")
        (kept,) = load_clean(root).sessions
        assert kept.evidence.units == {"step_time": "s"}
        assert (kept.evidence.design.blocks, kept.evidence.hardware_class) == (12, "cpu")

    def test_order_and_seeds_are_recorded(self, root: Path) -> None:
        """Input seeds are equal within a block and differ between blocks."""
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

    def test_failed_run_is_recorded_and_the_session_continues(self, root: Path) -> None:
        error = RunFailedError("it died:\n" + "x" * 600 + "\nout of\tmemory")
        evidence = measured(session(root, run=failing(4, error)), root)
        (failure,) = evidence.failures
        lost = block_order(plan(load_clean(root), [CLAIM.id]).slots, 3, 1)[1]
        assert (failure.block, failure.position, slot_of(failure)) == (1, 1, lost)
        assert failure.reason.endswith("x out of memory")
        assert len(evidence.runs) == 29

    def test_session_without_a_result_names_reason_and_journal(self, root: Path) -> None:

        def run(_: Path, __: Request) -> dict[str, Any]:
            raise RunFailedError("no arm of this name")

        what = session(root, run=run)
        with pytest.raises(MeasureError, match="no run gave a result: no arm of this name") as caught:
            what.measure(root)
        assert str(what.journal) in str(caught.value)

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("disk full"), ZeroDivisionError()])
    def test_interrupted_session_leaves_its_journal_and_no_evidence(self, root: Path, error: BaseException) -> None:
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

    def test_journal_has_every_earlier_run_when_a_run_starts(self, root: Path) -> None:
        seen: list[int] = []

        def run(script: Path, request: Request) -> dict[str, Any]:
            seen.append(len(what.journal.read_text(encoding="utf-8").splitlines()))
            return launch(script, request)

        what = session(root, run=run)
        what.measure(root)
        assert seen == list(range(1, 31))

    def test_sample_of_zero_does_not_end_the_session(self, root: Path) -> None:
        evidence = measured(session(root, run=partial(launch, seconds={"plain": 0.3, "clever": 0.0})), root)
        assert len(evidence.runs) == 30

    def test_progress_has_the_ratios_per_claim_and_point(self, root: Path) -> None:
        reported: list[tuple[int, int, str]] = []
        session(root, "made_up", progress=lambda *line: reported.append(line)).measure(root)
        assert [(done, total) for done, total, _ in reported] == [(i + 1, 108) for i in range(108)]
        assert reported[0][2] == ""
        shown = dict(part.split(" ", 1) for part in reported[-1][2].split("; "))
        assert set(shown) == {"clever", "swept"}
        figures = [float(figure) for part in shown.values() for figure in part.split(", ")]
        assert figures == pytest.approx([1.5] * 3, rel=0.03)

    def test_closed_terminal_does_not_end_the_session(self, root: Path) -> None:

        def progress(*_: object) -> None:
            raise BrokenPipeError

        assert len(measured(session(root, progress=progress), root).runs) == 30

    def test_signal_does_not_interrupt_writing_the_evidence(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Signals are ignored while the evidence is written, and handled again afterwards."""

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

    def test_higher_throughput_is_a_ratio_above_one(self, tmp_path: Path) -> None:
        claim = a_claim(metric={"name": "throughput"}, blocks=10)
        tree = load_clean(write_tree(tmp_path, [claim]))

        def run(script: Path, request: Request) -> dict[str, Any]:
            del script
            speed = 300.0 if request["arm"] == "clever" else 200.0
            return {"samples": {"throughput": [speed]}, "output": 1.0, "work_sha256": None, "flops": None}

        what = MeasurementSession(tree, plan(tree, [claim.id]), MACHINE, run, nothing)
        what.measure(tmp_path)
        assert what.ratios() == "clever 1.500"

    def test_throttle_reasons_are_recorded_per_run(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment, "slowdowns", lambda device: (f"{device} is hot",))
        assert {run.throttled for run in measured(session(root), root).runs} == {("cpu is hot",)}

    def test_sessions_write_separate_journals_and_evidence(self, root: Path) -> None:
        sessions = [session(root, seed=None) for _ in range(3)]
        paths = {each.measure(root) for each in sessions}
        assert len(paths) == len({each.journal for each in sessions}) == 3
        assert len(load_clean(root).sessions) == 3

    def test_full_disk_leaves_no_partial_evidence(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The error has the evidence as text."""
        evidence = a_session(CLAIM)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(EvidenceNotSavedError, match="No space") as caught:
            keep(evidence, root, tmp_path / "spare")
        assert caught.value.text == evidence_text(evidence)
        assert not [path for folder in ("checks/evidence", "spare") for path in (root / folder).rglob("*.*")]


EXECUTION = Path(measurement.__file__).parent
NOT_MEASURING = {
    "session_lock": "works before the first run",
    "journal": "works between runs",
    "save_evidence": "works after the last run",
    "network_block": "blocks the network, which no benchmark uses",
}
"""The modules that a session uses and that do not affect a measurement, with the reason."""


def used(names: set[str]) -> set[str]:
    """Return these modules of `headroom.execution`, and all that they import from it."""
    found: set[str] = set()
    while names > found:
        found = set(names)
        for name in found:
            for node in ast.walk(ast.parse((EXECUTION / f"{name}.py").read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headroom.execution"):
                    last = str(node.module).removeprefix("headroom.execution").lstrip(".")
                    names = names | ({last} if last else {alias.name for alias in node.names})
    return found


def test_harness_hash_covers_every_measuring_module() -> None:
    assert used({"measurement", "isolation", "preload"}) == {*measurement._MEASURING, *NOT_MEASURING}
    assert not {*measurement._MEASURING} & NOT_MEASURING.keys()
