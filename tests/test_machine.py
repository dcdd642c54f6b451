"""Test the machine benchmark, its record and `headroom machine`."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import small_rates
from factories import MACHINE, a_claim, write_tree
from headroom import environment
from headroom.cli import FAILED, OK, USAGE, main
from headroom.execution import machine_record
from headroom.execution.isolation import QUIET, ForkServer
from headroom.pictures import machine_roofline
from headroom.records import load
from headroom.records.machines import Machine
from test_roofline import a_machine, keep

ROOT = Path(__file__).parents[1]
REPORT = {
    name: value
    for name, value in a_machine().as_written().items()
    if name in ("products", "bandwidth", "launch", "not_measured")
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with a claim."""
    return write_tree(tmp_path / "tree", [a_claim()])


def runs(report: Any, **outcome: Any) -> Callable[..., Any]:
    """Return a fork server's ``run`` whose process writes this report, or none."""

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

    def test_report_becomes_a_record_with_the_machine_state(self) -> None:
        found = machine_record.measure(MACHINE, "cpu", "2026-11-21", runs(REPORT))
        assert found.environment.product == MACHINE.product
        assert (found.hardware_class, found.date, found.others_cpu) == ("cpu", "2026-11-21", 0.25)
        assert found.products == a_machine().products
        assert found.fastest == ("bf16", 4e11)

    @pytest.mark.parametrize(
        ("outcome", "why"),
        [
            ({"stderr": "Traceback\nRuntimeError: no such device"}, "RuntimeError: no such device"),
            ({"timed_out": True}, "it took longer than 600 s"),
            ({}, "its process failed without a message"),
        ],
    )
    def test_failed_process_is_reported_with_its_reason(self, outcome: dict[str, Any], why: str) -> None:
        with pytest.raises(machine_record.MachineBenchmarkError, match=why):
            machine_record.measure(MACHINE, "cpu", "2026-11-21", runs(None, **outcome))

    def test_every_format_has_samples_or_a_reason_on_this_cpu(self, tmp_path: Path) -> None:
        """Sizes are small, so that it is fast."""
        result = tmp_path / "report.json"
        with ForkServer(QUIET, preload=("torch",)) as server:
            outcome = server.run(small_rates.work, str(result), timeout=120, memory_limit=4 << 30, cwd=tmp_path)
        assert result.exists(), outcome.stderr
        found = Machine.model_validate({**a_machine().as_written(), **json.loads(result.read_text("utf-8"))})
        assert set(found.products) | set(found.not_measured) == {"fp32", "tf32", "bf16", "fp16", "int8", "fp8"}
        assert not set(found.products) & set(found.not_measured)
        assert {"fp32", "bf16"} <= set(found.products)
        assert found.not_measured["tf32"] == "a format of CUDA devices"
        assert set(found.bandwidth) == {"copy", "triad"}
        assert found.links == {}
        every = [*found.products.values(), *found.bandwidth.values(), found.launch]
        assert {len(each.samples) for each in every} == {7}
        # Units: FLOP/s and bytes/s are above a thousand, and a call takes less than a second.
        assert all(min(each.samples) > 1e3 for each in (*found.products.values(), *found.bandwidth.values()))
        assert max(found.launch.samples) < 1


class TestRecord:
    """A file of checks/machines/."""

    def test_record_is_read_as_written(self, root: Path) -> None:
        path = keep(root, a_machine())
        tree = load(root)
        assert tree.problems == ()
        assert tree.machines == {path: a_machine()}

    def test_edited_record_is_a_problem_but_still_read(self, root: Path) -> None:
        path = root / keep(root, a_machine())
        path.write_text(path.read_text("utf-8").replace("arrays", "rows"), "utf-8")
        tree = load(root)
        (problem,) = tree.problems
        assert (problem.rule, problem.message) == ("machines", "the file name does not match the content")
        assert len(tree.machines) == 1

    def test_windows_line_ends_change_no_hash(self, root: Path) -> None:
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
    def test_invalid_record_is_refused(self, change: dict[str, Any]) -> None:
        """No matmul, too few samples, a zero rate, an unknown format, an impossible share, an unknown key."""
        with pytest.raises(ValueError, match="validation error"):
            a_machine(**change)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Use a made-up machine that is measured at once; return the arguments of each measurement."""
    asked: list[tuple[Any, ...]] = []

    def measure(observed: environment.MachineState, name: str, date: str, _run: object) -> Machine:
        asked.append((observed, name, date))
        return a_machine(hardware_class=name, date=date)

    def observe(device: str, threads: int) -> environment.MachineState:
        return replace(MACHINE, threads=threads, device="cpu" if device == "auto" else device)

    monkeypatch.setattr(machine_record, "measure", measure)
    monkeypatch.setattr(environment, "observe", observe)
    return asked


LINK = {"host to device": {"of": "256 MiB, pinned", "samples": [5e10, 5.5e10, 5e10]}}
H100 = {"rates": {"fp32": 5e13, "bf16": 7e14}, "bandwidth": {"copy": {"of": "arrays", "samples": [2.8e12] * 3}}}


class TestRoofline:
    """`headroom.pictures.machine_roofline`."""

    def test_printed_roof_is_that_of_the_accelerator_in_the_fastest_format(self) -> None:
        tree = load(ROOT)
        accelerators = {name: each for family in tree.families.values() for name, each in family.accelerators.items()}
        data = machine_roofline.curves(a_machine(**H100), tree.classes["h100-sxm"], accelerators["h100-sxm"])
        assert list(data.curves) == [
            "measured here, bf16: 700 TFLOP/s and 2800 GB/s",
            "measured here, fp32: 50 TFLOP/s and 2800 GB/s",
            "printed, H100 SXM, bf16: 989 TFLOP/s and 3350 GB/s",
        ]
        words = machine_roofline.picture(data).description
        # 1/12 FLOPs per byte times the bandwidth; 683 FLOPs per byte are right of each ridge.
        assert "sum of two arrays, fp32: TFLOP/s, at most 0.23 with" in words
        assert "matmul of 2,048 × 2,048, bf16: TFLOP/s, at most 700" in words

    def test_class_without_an_accelerator_has_its_bound_and_a_machine_without_a_class_none(self) -> None:
        bound = machine_roofline.curves(a_machine(), load(ROOT).classes["cpu-amx"], None)
        assert [*bound.curves][2:] == ["bound of one thread of an x86 server CPU with AMX, any format: 8.6 TFLOP/s"]
        assert len(machine_roofline.curves(a_machine(), None, None).curves) == 2

    def test_text_rises_to_each_roof(self) -> None:
        lines = [*machine_roofline.text(machine_roofline.curves(a_machine(), None, None))]
        drawn = [line.partition("│")[2] for line in lines if "│" in line]
        assert drawn[0].lstrip()[0] == "●"
        assert drawn[0].rstrip()[-1] == "●"
        assert drawn[-1].startswith("●")
        assert sum("○" in line for line in drawn) == 1, "fp32 leaves the bandwidth line at its own roof"
        assert max(map(len, lines)) <= 80

    def test_links_are_printed(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(machine_record, "measure", lambda *_: a_machine(links=LINK))
        monkeypatch.setattr(environment, "observe", lambda *_, **__: MACHINE)
        assert main(["machine", "--root", str(root)]) == OK
        assert "link, host to device: best 55 GB/s, median 50 (256 MiB, pinned)" in capsys.readouterr().out


class TestCommand:
    """`headroom machine`."""

    def test_prints_best_and_median_and_writes_nothing(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["machine", "--root", str(root)]) == OK
        out = capsys.readouterr().out
        assert "matmul, bf16: best 0.4 TFLOP/s, median 0.36 (matrices)" in out
        assert "memory, copy: best 10 GB/s, median 10 (arrays)" in out
        assert "launch of an operation: best 1 µs, median 1 (calls)" in out
        assert "matmul, tf32: not measured (a format of CUDA devices)" in out
        assert "CPU use of other processes: 0%" in out
        assert not (root / "checks/machines").exists()
        assert here[0][0].threads == int(QUIET["OMP_NUM_THREADS"])

    def test_roofline_is_printed_and_drawn(
        self, root: Path, here: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "roofline.svg"
        assert main(["machine", "--svg", str(file), "--root", str(root)]) == OK
        assert "● measured here, bf16: 0.4 TFLOP/s and 10 GB/s" in capsys.readouterr().out
        words = "".join(ET.fromstring(file.read_text("utf-8")).itertext())  # noqa: S314 - our own file
        assert "matmul of 2,048 × 2,048, bf16: TFLOP/s, at most 0.4 with measured here, bf16" in words
        assert here

    def test_record_is_written_under_its_class_and_passes_the_check(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["machine", "--record", "--json", "--root", str(root)]) == OK
        printed = json.loads(capsys.readouterr().out)
        tree = load(root)
        assert tree.problems == ()
        assert [str(root / path) for path in tree.machines] == [printed["record"]]
        assert printed["machine"]["hardware_class"] == here[0][1] == "cpu"

    def test_machine_without_a_class_is_measured_but_not_recorded(
        self, root: Path, here: list[Any], capsys: pytest.CaptureFixture[str]
    ) -> None:
        (root / "checks/facts/hardware-classes.yml").write_text("{}\n", "utf-8")
        assert main(["machine", "--root", str(root)]) == OK
        assert ", no hardware class;" in capsys.readouterr().out
        assert main(["machine", "--record", "--root", str(root)]) == USAGE
        assert "edit checks/facts/hardware-classes.yml" in capsys.readouterr().err
        assert len(here) == 1

    def test_failure_is_reported_and_writes_nothing(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:

        def broken(*_: object) -> Machine:
            raise machine_record.MachineBenchmarkError("the machine was not measured: the GPU has fallen off")

        monkeypatch.setattr(machine_record, "measure", broken)
        monkeypatch.setattr(environment, "observe", lambda *_, **__: MACHINE)
        assert main(["machine", "--record", "--root", str(root)]) == FAILED
        assert "the GPU has fallen off; no record is written" in capsys.readouterr().err
        assert not list((root / "checks/machines").glob("*"))
