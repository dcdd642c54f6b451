"""What a machine is, as it is found out without torch and without names."""

import getpass
import os
import platform
import shutil
import stat
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from headroom import environment
from headroom.environment import observe, slowdowns

TOOL = """#!/bin/sh
case "$*" in
  *throttle_reasons*) echo "{reasons}" ;;
  *name,memory.total,power.limit,driver_version*--id=0*) {answer} ;;
  *) exit 9 ;;
esac
"""


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the driver's tool."""
    monkeypatch.setattr(shutil, "which", lambda _: None)


def fake_tool(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str = 'echo "NVIDIA H200, 143771, 700.00, 570.86.15"',
    reasons: str = "Not Active, Not Active, Not Active, Not Active",
) -> None:
    """Put a ``nvidia-smi`` that answers so in front of PATH."""
    path = folder / "nvidia-smi"
    path.write_text(TOOL.format(answer=answer, reasons=reasons))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


class TestCpu:
    """A machine seen as a CPU."""

    def test_the_facts_are_there(self) -> None:
        """Those that a session needs."""
        machine = observe("cpu")
        assert machine.device == "cpu"
        assert machine.product
        assert machine.memory_bytes > 2**28
        assert 1 <= machine.cores <= (os.cpu_count() or 1)
        assert machine.power_limit_w is None
        assert machine.driver is None
        assert machine.system.startswith(platform.system())
        assert machine.system.endswith(platform.machine())
        assert machine.load_before >= 0
        assert machine.versions["python"] == platform.python_version()
        assert machine.versions["numpy"]
        assert {"clock", "temperature"} <= set(machine.unknown)
        assert set(machine.instruction_sets) <= set(environment.INSTRUCTION_SETS)

    @pytest.mark.parametrize(("argument", "variable", "threads"), [(3, "5", 3), (None, "5", 5), (None, "", None)])
    def test_threads_are_those_asked_for_or_those_of_the_environment_or_the_cores(
        self, monkeypatch: pytest.MonkeyPatch, argument: int | None, variable: str, threads: int | None
    ) -> None:
        """In that order."""
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
        machine = observe("cpu", threads=argument)
        assert machine.threads == (threads or machine.cores)

    def test_the_processor_is_read_from_the_system(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its name, the sets that decide which kernels run, and whether it is a virtual one."""
        info = {"model name": "Made-up Xeon", "flags": "fpu avx2 avx512f amx_bf16 hypervisor"}
        monkeypatch.setattr(environment, "_cpuinfo", lambda: info)
        machine = observe("cpu")
        assert machine.product == "Made-up Xeon"
        assert machine.instruction_sets == ("avx2", "avx512f", "amx_bf16")
        assert machine.virtualised is True
        info["flags"] = "avx2"
        assert observe("cpu").virtualised is False

    def test_a_machine_that_says_nothing_of_its_processor_is_described_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is not known is None."""
        monkeypatch.setattr(environment, "_cpuinfo", dict)
        machine = observe("cpu")
        assert machine.product
        assert machine.instruction_sets == ()
        assert machine.virtualised is None

    def test_neither_machine_nor_user_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also not in the release of a kernel that was built by hand."""
        monkeypatch.setattr(platform, "release", lambda: "6.1.55-alices-laptop")
        text = str(asdict(observe("cpu")))
        assert "alice" not in text
        assert platform.node() not in text
        assert f"'{getpass.getuser()}'" not in text
        assert str(Path.home()) not in text

    def test_a_gpu_that_is_there_is_not_taken_where_a_cpu_is_asked_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The device is the caller's choice."""
        fake_tool(tmp_path, monkeypatch)
        assert observe("cpu").device == "cpu"

    def test_torch_is_not_imported(self) -> None:
        """A parent that must not touch CUDA can ask."""
        observe("cpu")
        assert "torch" not in sys.modules


class TestGpu:
    """A machine seen through the driver's tool."""

    def test_the_tool_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Product, memory, power limit and driver."""
        fake_tool(tmp_path, monkeypatch)
        for device in ("cuda", "auto"):
            machine = observe(device)
            assert machine.device == "cuda"
            assert machine.product == "NVIDIA H200"
            assert machine.memory_bytes == 143771 * 2**20
            assert machine.power_limit_w == 700.0
            assert machine.driver == "570.86.15"
            assert "power_limit" not in machine.unknown

    def test_a_power_limit_that_the_driver_does_not_know_is_unknown(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As on a laptop or a part of a GPU."""
        fake_tool(tmp_path, monkeypatch, answer='echo "NVIDIA T500, 4096, [N/A], 570.86.15"')
        machine = observe("cuda")
        assert machine.power_limit_w is None
        assert "power_limit" in machine.unknown

    @pytest.mark.parametrize("answer", ["exit 6", "echo ''"])
    def test_a_tool_that_finds_nothing_is_no_gpu(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
    ) -> None:
        """A driver without a device has no say."""
        fake_tool(tmp_path, monkeypatch, answer=answer)
        assert observe("auto").device == "cpu"
        with pytest.raises(ValueError, match="no CUDA device here; measure with --device cpu"):
            observe("cuda")

    @pytest.mark.usefixtures("no_gpu")
    def test_a_gpu_that_is_not_there_is_an_error_with_a_remedy(self) -> None:
        """And a CPU is found without being asked for."""
        with pytest.raises(ValueError, match="no CUDA device here; measure with --device cpu"):
            observe("cuda")
        assert observe("auto").device == "cpu"


class TestSlowdowns:
    """Why a GPU runs slow now."""

    @pytest.mark.parametrize(
        ("reasons", "found"),
        [
            ("Not Active, Not Active, Not Active, Not Active", ()),
            ("Active, Not Active, Active, Not Active", ("hw_slowdown", "sw_thermal_slowdown")),
            ("Not Active, Not Active, Not Active, Active", ("hw_power_brake_slowdown",)),
            ("no such query", ("unknown: the driver does not say",)),
        ],
    )
    def test_active_reasons_are_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasons: str, found: tuple[str, ...]
    ) -> None:
        """What the driver does not say is not taken for all being well."""
        fake_tool(tmp_path, monkeypatch, reasons=reasons)
        assert slowdowns("cuda") == found

    def test_a_cpu_has_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The tool is not even asked."""
        fake_tool(tmp_path, monkeypatch, reasons="Active, Active, Active, Active")
        assert slowdowns("cpu") == ()

    @pytest.mark.usefixtures("no_gpu")
    def test_a_machine_without_the_tool_has_none(self) -> None:
        """There is nobody to ask."""
        assert slowdowns("cuda") == ()


class TestCpuSeconds:
    """What the cores of this process have done."""

    def test_work_is_at_most_what_there_is(self) -> None:
        """And neither goes back."""
        if not Path("/proc/stat").exists():
            assert environment.cpu_seconds() is None
            return
        before, after = environment.cpu_seconds(), environment.cpu_seconds()
        assert before
        assert after
        assert 0 < before[0] < before[1]
        assert before[0] <= after[0]
        assert before[1] <= after[1]

    def test_only_the_cores_of_this_process_count(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Work is all but waiting, and what the hypervisor took is work of others."""
        stat = tmp_path / "stat"
        stat.write_text(
            "cpu 9 9 9 9 9 9 9 9 9 9\ncpu0 9 9 9 9 9 9 9 9 9 9\ncpu3 100 10 1 600 200 20 2 50 0 0\nctxt 1\n"
        )
        monkeypatch.setattr(environment, "Path", lambda _: stat)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
        monkeypatch.setattr(os, "sysconf", lambda _: 100)
        assert environment.cpu_seconds() == (1.83, 9.83)

    def test_a_system_that_does_not_say(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is guessed."""
        monkeypatch.setattr(environment, "Path", lambda _: tmp_path / "stat")
        assert environment.cpu_seconds() is None
        (tmp_path / "stat").write_text("cpu0 0 0 0 0 0 0 0 0 0 0\n")
        assert environment.cpu_seconds() is None
