"""`headroom reproduce`: a claim is measured again here, and laid beside what the registry holds."""

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import killed_process
from factories import CITED, CLASSES, MACHINE, a_claim, a_session, a_sweep, load_clean, write, write_tree
from headroom import environment
from headroom.cli import OK, USAGE, main, terminal
from headroom.cli.terminal import Estimate
from headroom.environment import MachineState
from headroom.execution import hardware_class_draft, measurement, session_plan
from headroom.io.safe_read import sha256
from headroom.io.todo_markers import MARK
from headroom.records import Tree, load
from headroom.records.facts import HardwareClass
from killed_process import a_tree, journals, lines, start

CLAIM = a_claim(blocks=10)
SWEPT = a_claim("training.swept", scope=a_sweep(1, 4), blocks=10)
REGISTERED = a_session(CLAIM, 1.5, blocks=10)
NEWCOMER = replace(MACHINE, product="Other Xeon", instruction_sets=("avx2",))
GPU = replace(
    MACHINE, device="cuda", product="NVIDIA L4 (24 GB)", power_limit_w=72.0, driver="580.1", instruction_sets=()
)
TAKES = {"plain": 0.3, "clever": 0.2}


def here(
    monkeypatch: pytest.MonkeyPatch, machine: MachineState = MACHINE, seconds: Mapping[str, float] = TAKES
) -> None:
    """Have this machine be another, whose runs take this long, give or take a hundredth."""
    noise = random.Random(7)  # noqa: S311 - noise, not a secret

    def launch(_: Path, request: Mapping[str, Any]) -> dict[str, Any]:
        samples = {"step_time": [seconds[request["arm"]] * math.exp(noise.gauss(0, 0.01))]}
        return {"samples": samples, "output": 2.5, "work_sha256": sha256(request["arm"]), "flops": 1e6}

    @contextmanager
    def session(
        tree: Tree, what: session_plan.Plan, found: MachineState, name: str
    ) -> Iterator[measurement.MeasurementSession]:
        yield measurement.MeasurementSession(tree, what, found, launch, lambda *_: None, hardware=name)

    monkeypatch.setattr(environment, "observe", lambda *_, **__: machine)
    monkeypatch.setattr(terminal, "_session", session)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A registry with two claims, of which one has evidence."""
    root = write_tree(tmp_path / "tree", [CLAIM, SWEPT], [REGISTERED])
    write(root / "checks/registry/training/cited.yml", yaml.safe_dump(CITED, allow_unicode=True, sort_keys=False))
    return root


def below(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestCommand:
    """What is printed, and what is written where."""

    def test_shows_both_intervals_and_that_they_agree(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With the files that they come from, and what differs between the machines."""
        here(monkeypatch, replace(MACHINE, cores=4, versions={"python": "3.12.1", "torch": "2.13.0"}))
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        printed = capsys.readouterr().out
        rows = [row.split() for row in printed.splitlines()]
        (ours,), (theirs,) = (
            [row for row in rows if row[:2] == start] for start in (["here", "(cpu)"], ["cpu,", "2026-11-20"])
        )
        assert ours[2:4] == theirs[2:4] == ["supported", "(clear)"]
        assert ours[-1] == theirs[-1] == "10"
        assert "They agree: the verdicts are the same, and the intervals overlap." in printed
        assert ["cores", "4", "8"] in rows
        assert ["python", "3.12.1", "3.11.7"] in rows
        assert not [row for row in rows if row[:1] in (["torch"], ["product"], ["threads"])]
        assert "unknown of both, so they may differ as well: clock, temperature" in printed
        assert "Contributed, the claim stays supported on cpu" in printed

    def test_says_first_how_many_runs_there_are_and_how_long_they_take(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """By the newest session of the benchmark; where there is none, that it is not known yet."""
        here(monkeypatch)
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        said = capsys.readouterr().err.splitlines()
        assert said[0].startswith("headroom: 30 runs in 10 blocks, each run a process of its own; about ")
        assert said[0].endswith(" by the newest session (on cpu, 2026-11-20)")
        for path in (root / "checks/evidence").rglob("*.json"):
            path.unlink()
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        assert "how long they take is known after the first block" in capsys.readouterr().err

    def test_changes_nothing_of_the_registry(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The evidence lies where it says, and the command that it prints puts it into its place."""
        here(monkeypatch)
        before = below(root / "checks")
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        assert below(root / "checks") == before
        printed = capsys.readouterr().out
        (copy,) = (row.strip() for row in printed.splitlines() if row.strip().startswith("mkdir"))
        assert copy.startswith("mkdir -p checks/evidence/made_up && cp .cache/reproduced/checks/evidence/made_up/cpu-")
        source, target = copy.split()[-2:]
        write(root / target / Path(source).name, (root / source).read_text("utf-8"))
        assert len(load_clean(root).sessions) == 2

    def test_puts_it_into_its_place_where_it_is_told_to(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Then nothing has to be copied."""
        here(monkeypatch)
        monkeypatch.chdir(root)
        assert main(["reproduce", CLAIM.id, "--out", "."]) == OK
        printed = capsys.readouterr().out
        assert len(load_clean(root).sessions) == 2
        assert "The evidence is checks/evidence/made_up/cpu-" in printed
        assert "Nothing of the registry has changed" not in printed
        assert "cp " not in printed

    def test_prints_json(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """The same, a swept claim point by point, and what the registry does not hold is absent."""
        here(monkeypatch)
        assert main(["reproduce", SWEPT.id, "--json", "--root", str(root)]) == OK
        found = json.loads(capsys.readouterr().out)
        assert (found["claim"], found["hardware_class"], found["class_entry"]) == (SWEPT.id, "cpu", None)
        assert (found["before"], found["after"], found["beside"]) == ("unmeasured", "supported", [])
        assert [(row["point"], row["verdict"], row["n"]) for row in found["here"]] == [
            ({"batch_size": 1}, "supported", 10),
            ({"batch_size": 4}, "supported", 10),
        ]
        assert all(row["low"] < row["ratio"] < row["high"] for row in found["here"])
        assert (root / found["evidence"]).is_file()

    def test_says_what_is_not_known_as_null(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """JSON has neither NaN nor infinity."""
        here(monkeypatch)
        monkeypatch.setattr("headroom.maths.statistics.compare", broken)
        assert main(["reproduce", CLAIM.id, "--json", "--root", str(root)]) == OK
        (row,) = json.loads(capsys.readouterr().out, parse_constant=broken)["here"]
        assert (row["verdict"], row["ratio"], row["high"]) == ("inconclusive", None, None)
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        assert "unknown" in capsys.readouterr().out

    def test_of_a_machine_without_a_class(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It is told before it measures, with the entry; what it measures is judged, and cannot be contributed."""
        here(monkeypatch, NEWCOMER)
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == OK
        printed = capsys.readouterr()
        assert "headroom: this machine is of no hardware class yet: it can reproduce, and not contribute" in printed.err
        assert hardware_class_draft.entry(NEWCOMER) in printed.err
        assert "here (no class yet)  supported (clear)" in printed.out
        assert "It is another hardware class, which has a verdict of its own" in printed.out
        assert "measure again" in printed.out
        assert "pull request" not in printed.out
        assert main(["reproduce", CLAIM.id, "--json", "--root", str(root)]) == OK
        found = json.loads(capsys.readouterr().out)
        assert (found["hardware_class"], found["after"]) == (None, None)
        assert found["class_entry"] == hardware_class_draft.entry(NEWCOMER)
        assert [each["hardware_class"] for each in found["beside"]] == ["cpu"]

    def test_carries_out_a_session_as_measure_does(self, tmp_path: Path) -> None:
        """In processes of its own, with a journal, a bar, and an estimate where it takes long."""
        root = a_tree(tmp_path / "tree")
        script = str(Path(__file__).parent / "tiny_session.py")
        command = [script, json.dumps({"long": 0}), "reproduce", killed_process.CLAIM.id, "--root", str(root)]
        code, out, err = start(command, FINISHED=str(tmp_path / "finished")).ends()
        assert code == OK, err
        assert "headroom: the first of 10 blocks took 0 s, so about" in err
        assert "30/30" in err
        assert lines(*journals(root))[-1]["outcome"] == "completed"
        assert "The registry holds no session to lay beside it." in out


def broken(*_: object, **__: object) -> Any:
    """Break."""
    raise ZeroDivisionError


class TestUsage:
    """What cannot be reproduced is bad usage, says why, and measures nothing."""

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("training.clevr", "there is no claim `training.clevr`; did you mean training.clever"),
            ("zzz", "there is no claim `zzz`; `headroom verdict` lists all"),
            ("made_up", "`made_up` is a benchmark; reproduce one of its claims: training.clever, training.swept"),
            ("training.cited", "`training.cited` is cited: it reports what somebody else measured"),
        ],
    )
    def test_of_what_is_no_measured_claim(
        self, root: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """An unknown name is answered with those that are close."""
        assert main(["reproduce", name, "--root", str(root)]) == USAGE
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"headroom: {said}")
        assert printed.err.count("\n") == 1
        assert not (root / ".cache").exists()

    def test_on_a_gpu_that_is_not_there(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As `measure` says it."""
        monkeypatch.setattr(environment, "_gpu", lambda: None)
        assert main(["reproduce", CLAIM.id, "--device", "cuda", "--root", str(root)]) == USAGE
        assert "no CUDA device here" in capsys.readouterr().err

    @pytest.mark.parametrize("path", ["checks/facts/hardware-classes.yml", "checks/registry/training/clever.yml"])
    def test_of_a_record_that_cannot_be_read(
        self, root: Path, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Nobody is told that a machine is of no class, or that there is no such claim, where a file is broken."""
        here(monkeypatch)
        write(root / path, "a: [\n")
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == USAGE
        assert capsys.readouterr().err.startswith(f"headroom: {path}:")
        assert not (root / ".cache").exists()

    def test_of_a_machine_of_two_classes(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Nobody could say which of them its evidence speaks for."""
        here(monkeypatch)
        write(root / "checks/facts/hardware-classes.yml", yaml.safe_dump({**CLASSES, "twin": deepcopy(CLASSES["cpu"])}))
        assert main(["reproduce", CLAIM.id, "--root", str(root)]) == USAGE
        assert "is of cpu, twin hardware class" in capsys.readouterr().err


class TestNewcomer:
    """The entry of a machine without a class."""

    @pytest.mark.parametrize("machine", [NEWCOMER, GPU, replace(GPU, power_limit_w=None), replace(NEWCOMER, threads=8)])
    def test_makes_it_one_of_a_class(self, root: Path, machine: MachineState) -> None:
        """Once what only its owner knows is written; and of that class alone."""
        (entry,) = yaml.safe_load(hardware_class_draft.entry(machine)).items()
        assert MARK in entry[1]["peak_flops"]
        assert MARK in entry[1]["peak_flops_source"]
        told = {**entry[1], "peak_flops": 1e12, "peak_flops_source": "a sheet"}
        assert HardwareClass.model_validate(told).holds(machine)
        assert not HardwareClass.model_validate(told).holds(MACHINE)
        write(root / "checks/facts/hardware-classes.yml", yaml.safe_dump({**CLASSES, entry[0]: told}))
        assert session_plan.classes(load_clean(root), machine) == [entry[0]]

    def test_is_named_as_classes_are(self) -> None:
        """By its most telling instruction set, or its product."""
        assert hardware_class_draft.entry(NEWCOMER).startswith("cpu-avx2:\n")
        assert hardware_class_draft.entry(GPU).startswith("l4-24-gb:\n")
        assert hardware_class_draft.entry(replace(GPU, product="NVIDIA")).startswith("nvidia:\n")

    def test_that_is_not_complete_is_refused(self, root: Path) -> None:
        """Each gap is named with its line."""
        with (root / "checks/facts/hardware-classes.yml").open("a", encoding="utf-8") as classes:
            classes.write(hardware_class_draft.entry(NEWCOMER))
        problems = [problem for problem in load(root).problems if problem.rule == "gaps"]
        assert len(problems) == 2
        assert all(problem.line for problem in problems)


class TestEstimate:
    """How long a session takes is told after its first block, if it is long."""

    @staticmethod
    def told(*moments: float, blocks: int = 20, runs: int = 3) -> list[str]:
        """What is said after each run that ends at one of these moments."""
        clock: Callable[[], float] = iter([0.0, *moments]).__next__
        estimate = Estimate(blocks, runs, clock)
        return [estimate.after(done) for done in range(1, blocks * runs + 1)]

    def test_of_a_long_one(self) -> None:
        """Once, in minutes."""
        expected = "the first of 20 blocks took 60 s, so about 19 minutes are left; Ctrl-C ends it"
        assert self.told(60.0) == ["", "", expected, *[""] * 57]

    def test_of_a_short_one(self) -> None:
        """Whoever waits for a minute need not be told."""
        assert set(self.told(3.0)) == {""}
