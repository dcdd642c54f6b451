"""What a machine can do: its measurement in a process of its own, its record, and the command."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import small_rates
from factories import MACHINE, a_claim, write_tree
from headroom import environment
from headroom.cli import FAILED, OK, USAGE, main
from headroom.execution import machine_record
from headroom.execution.isolation import QUIET, ForkServer
from headroom.records import load
from headroom.records.machines import Machine
from test_roofline import a_machine, keep

REPORT = {
    name: value
    for name, value in a_machine().as_written().items()
    if name in ("products", "bandwidth", "launch", "not_measured")
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with a claim."""
    return write_tree(tmp_path / "tree", [a_claim()])


def runs(report: Any, **outcome: Any) -> Callable[..., Any]:
    """A nursery's ``run`` whose process leaves this report, or none."""

    def run(work: Callable[..., object], request: Any, result: str, **limits: Any) -> Any:
        assert work is machine_record.work
        assert request == {"device": "cpu", "memory_bytes": MACHINE.memory_bytes}
        assert limits["timeout"] > 0
        assert limits["memory_limit"] > 0
        if report is not None:
            Path(result).write_text(json.dumps(report), "utf-8")
        return SimpleNamespace(**{"others_cpu": 0.25, "stderr": "", "timed_out": False, **outcome})

    return run


class TestMeasurement:
    """`headroom.execution.machine_record`."""

    def test_a_report_becomes_a_record(self) -> None:
        """With the machine that it is of, and what else the machine did meanwhile."""
        found = machine_record.measure(MACHINE, "cpu", "2026-11-21", runs(REPORT))
        assert found.environment.product == MACHINE.product
        assert (found.hardware_class, found.date, found.others_cpu) == ("cpu", "2026-11-21", 0.25)
        assert found.products == a_machine().products
        assert found.fastest == ("bf16", 4e11)

    @pytest.mark.parametrize(
        ("outcome", "why"),
        [
            ({"stderr": "Traceback\nRuntimeError: no such device"}, "RuntimeError: no such device"),
            ({"timed_out": True}, "it took too long"),
            ({}, "it said nothing"),
        ],
    )
    def test_a_process_that_fails_says_why(self, outcome: dict[str, Any], why: str) -> None:
        """And nothing is made up."""
        with pytest.raises(machine_record.RatesError, match=why):
            machine_record.measure(MACHINE, "cpu", "2026-11-21", runs(None, **outcome))

    def test_every_figure_is_measured_here(self, tmp_path: Path) -> None:
        """On this CPU, with small sizes: each format has rates or a reason, and nothing is told once only."""
        result = tmp_path / "report.json"
        with ForkServer(QUIET, preload=("torch",)) as nursery:
            outcome = nursery.run(small_rates.work, str(result), timeout=120, memory_limit=4 << 30, cwd=tmp_path)
        assert result.exists(), outcome.stderr
        found = Machine.model_validate({**a_machine().as_written(), **json.loads(result.read_text("utf-8"))})
        assert set(found.products) | set(found.not_measured) == {"fp32", "tf32", "bf16", "fp16", "int8", "fp8"}
        assert not set(found.products) & set(found.not_measured)
        assert {"fp32", "bf16"} <= set(found.products)
        assert found.not_measured["tf32"] == "a format of CUDA devices"
        assert set(found.bandwidth) == {"copy", "triad"}
        every = [*found.products.values(), *found.bandwidth.values(), found.launch]
        assert {len(each.samples) for each in every} == {7}
        # Units: a product is of more operations a second than a thousand, and a call takes less than a second.
        assert all(min(each.samples) > 1e3 for each in (*found.products.values(), *found.bandwidth.values()))
        assert max(found.launch.samples) < 1


class TestRecord:
    """A file of checks/machines/."""

    def test_it_is_read_as_it_was_written(self, root: Path) -> None:
        """By its path."""
        path = keep(root, a_machine())
        tree = load(root)
        assert tree.problems == ()
        assert tree.machines == {path: a_machine()}

    def test_another_name_is_a_problem(self, root: Path) -> None:
        """An edited file is one with another hash, and it is still read."""
        path = root / keep(root, a_machine())
        path.write_text(path.read_text("utf-8").replace("arrays", "rows"), "utf-8")
        tree = load(root)
        (problem,) = tree.problems
        assert (problem.rule, problem.message) == ("machines", "the file name does not match the content")
        assert len(tree.machines) == 1

    def test_line_ends_of_windows_change_no_hash(self, root: Path) -> None:
        """As a checkout there has them."""
        path = root / keep(root, a_machine())
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert load(root).problems == ()

    @pytest.mark.parametrize(
        "change",
        [
            {"products": {}},
            {"products": {"fp32": {"of": "x", "samples": [1.0, 2.0]}}},
            {"products": {"fp32": {"of": "x", "samples": [1.0, 2.0, 0.0]}}},
            {"products": {"fp64": {"of": "x", "samples": [1.0, 2.0, 3.0]}}},
            {"others_cpu": 1.1},
            {"verdict": "fast"},
        ],
    )
    def test_what_says_nothing_is_refused(self, change: dict[str, Any]) -> None:
        """No product, too few samples, one that is no rate, an unknown format, an odd share, an unknown key."""
        with pytest.raises(ValueError, match="validation error"):
            a_machine(**change)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The made-up machine, which measures itself in no time; what it was asked for."""
    asked: list[tuple[Any, ...]] = []

    def measure(observed: environment.MachineState, name: str, date: str, _run: object) -> Machine:
        asked.append((observed, name, date))
        return a_machine(hardware_class=name, date=date)

    def observe(device: str, threads: int) -> environment.MachineState:
        return replace(MACHINE, threads=threads, device="cpu" if device == "auto" else device)

    monkeypatch.setattr(machine_record, "measure", measure)
    monkeypatch.setattr(environment, "observe", observe)
    return asked


class TestCommand:
    """`headroom machine`."""

    def test_it_prints_the_best_and_the_median(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And keeps nothing unasked."""
        assert main(["machine", "--root", str(root)]) == OK
        out = capsys.readouterr().out
        assert "product, bf16: best 0.4 TFLOP/s, median 0.36 (matrices)" in out
        assert "memory, copy: best 10 GB/s, median 10 (arrays)" in out
        assert "call of an operation: best 1 µs, median 1 (calls)" in out
        assert "product, tf32: not measured (a format of CUDA devices)" in out
        assert "others had 0% of the cores" in out
        assert not (root / "checks/machines").exists()
        assert here[0][0].threads == int(QUIET["OMP_NUM_THREADS"])

    def test_a_record_is_kept_and_checked(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Under the class that the machine is of."""
        assert main(["machine", "--record", "--json", "--root", str(root)]) == OK
        told = json.loads(capsys.readouterr().out)
        tree = load(root)
        assert tree.problems == ()
        assert [str(root / path) for path in tree.machines] == [told["record"]]
        assert told["machine"]["hardware_class"] == here[0][1] == "cpu"

    def test_a_machine_of_no_class_is_measured_and_not_kept(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A record would bound nothing."""
        (root / "checks/facts/hardware-classes.yml").write_text("{}\n", "utf-8")
        assert main(["machine", "--root", str(root)]) == OK
        assert "of no hardware class" in capsys.readouterr().out
        assert main(["machine", "--record", "--root", str(root)]) == USAGE
        assert "describe it in checks/facts/hardware-classes.yml" in capsys.readouterr().err
        assert len(here) == 1

    def test_a_failure_is_told(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """And keeps nothing."""

        def broken(*_: object) -> Machine:
            raise machine_record.RatesError("nothing was measured: the GPU has fallen off")

        monkeypatch.setattr(machine_record, "measure", broken)
        monkeypatch.setattr(environment, "observe", lambda *_, **__: MACHINE)
        assert main(["machine", "--record", "--root", str(root)]) == FAILED
        assert "the GPU has fallen off; nothing is kept" in capsys.readouterr().err
        assert not list((root / "checks/machines").glob("*"))
