"""Test how the machine's hardware and state are read, without torch and without identifying names."""

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
    """Make this a machine without nvidia-smi."""
    monkeypatch.setattr(shutil, "which", lambda _: None)


def fake_tool(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str = 'echo "NVIDIA H200, 143771, 700.00, 570.86.15"',
    reasons: str = "Not Active, Not Active, Not Active, Not Active",
) -> None:
    """Put an ``nvidia-smi`` with these answers at the front of PATH."""
    path = folder / "nvidia-smi"
    path.write_text(TOOL.format(answer=answer, reasons=reasons))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


class TestCpu:
    """The machine as a CPU."""

    def test_state_has_every_field_of_a_session(self) -> None:
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
    def test_threads_come_from_the_argument_then_the_environment_then_the_cores(
        self, monkeypatch: pytest.MonkeyPatch, argument: int | None, variable: str, threads: int | None
    ) -> None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
        machine = observe("cpu", threads=argument)
        assert machine.threads == (threads or machine.cores)

    def test_processor_instruction_sets_and_virtualisation_come_from_cpuinfo(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        info = {"model name": "Made-up Xeon", "flags": "fpu avx2 avx512f amx_bf16 hypervisor"}
        monkeypatch.setattr(environment, "_cpuinfo", lambda: info)
        machine = observe("cpu")
        assert machine.product == "Made-up Xeon"
        assert machine.instruction_sets == ("avx2", "avx512f", "amx_bf16")
        assert machine.virtualised is True
        info["flags"] = "avx2"
        assert observe("cpu").virtualised is False

    def test_missing_cpuinfo_gives_unknown_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment, "_cpuinfo", dict)
        machine = observe("cpu")
        assert machine.product
        assert machine.instruction_sets == ()
        assert machine.virtualised is None

    def test_no_value_names_the_machine_or_its_user(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not even the release of a kernel that the user built."""
        monkeypatch.setattr(platform, "release", lambda: "6.1.55-alices-laptop")
        text = str(asdict(observe("cpu")))
        assert "alice" not in text
        assert platform.node() not in text
        assert f"'{getpass.getuser()}'" not in text
        assert str(Path.home()) not in text

    def test_device_cpu_ignores_a_gpu(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_tool(tmp_path, monkeypatch)
        assert observe("cpu").device == "cpu"

    def test_torch_is_not_imported(self) -> None:
        """A process that must not create a CUDA context can call it."""
        observe("cpu")
        assert "torch" not in sys.modules


class TestGpu:
    """The machine as nvidia-smi reports it."""

    def test_gpu_is_read_from_nvidia_smi(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_tool(tmp_path, monkeypatch)
        for device in ("cuda", "auto"):
            machine = observe(device)
            assert machine.device == "cuda"
            assert machine.product == "NVIDIA H200"
            assert machine.memory_bytes == 143771 * 2**20
            assert machine.power_limit_w == 700.0
            assert machine.driver == "570.86.15"
            assert "power_limit" not in machine.unknown

    def test_missing_power_limit_is_unknown(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Laptop GPUs and parts of a GPU have none."""
        fake_tool(tmp_path, monkeypatch, answer='echo "NVIDIA T500, 4096, [N/A], 570.86.15"')
        machine = observe("cuda")
        assert machine.power_limit_w is None
        assert "power_limit" in machine.unknown

    @pytest.mark.parametrize("answer", ["exit 6", "echo ''"])
    def test_driver_without_a_device_means_no_gpu(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
    ) -> None:
        fake_tool(tmp_path, monkeypatch, answer=answer)
        assert observe("auto").device == "cpu"
        with pytest.raises(ValueError, match="this machine has no CUDA device; use --device cpu"):
            observe("cuda")

    @pytest.mark.usefixtures("no_gpu")
    def test_missing_gpu_is_an_error_and_auto_falls_back_to_cpu(self) -> None:
        with pytest.raises(ValueError, match="this machine has no CUDA device; use --device cpu"):
            observe("cuda")
        assert observe("auto").device == "cpu"


class TestSlowdowns:
    """Throttle reasons of a GPU."""

    @pytest.mark.parametrize(
        ("reasons", "found"),
        [
            ("Not Active, Not Active, Not Active, Not Active", ()),
            ("Active, Not Active, Active, Not Active", ("hw_slowdown", "sw_thermal_slowdown")),
            ("Not Active, Not Active, Not Active, Active", ("hw_power_brake_slowdown",)),
            ("no such query", ("unknown: the driver does not say",)),
        ],
    )
    def test_active_reasons_are_listed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasons: str, found: tuple[str, ...]
    ) -> None:
        """An unknown answer does not count as no throttling."""
        fake_tool(tmp_path, monkeypatch, reasons=reasons)
        assert slowdowns("cuda") == found

    def test_cpu_has_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fake_tool(tmp_path, monkeypatch, reasons="Active, Active, Active, Active")
        assert slowdowns("cpu") == ()

    @pytest.mark.usefixtures("no_gpu")
    def test_machine_without_nvidia_smi_has_none(self) -> None:
        assert slowdowns("cuda") == ()


class TestCpuSeconds:
    """Busy and total seconds of this process's cores."""

    def test_busy_time_grows_and_stays_below_total_time(self) -> None:
        if not Path("/proc/stat").exists():
            assert environment.cpu_seconds() is None
            return
        before, after = environment.cpu_seconds(), environment.cpu_seconds()
        assert before
        assert after
        assert 0 < before[0] < before[1]
        assert before[0] <= after[0]
        assert before[1] <= after[1]

    def test_only_cores_of_this_process_count_and_steal_is_busy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stat = tmp_path / "stat"
        stat.write_text(
            "cpu 9 9 9 9 9 9 9 9 9 9\ncpu0 9 9 9 9 9 9 9 9 9 9\ncpu3 100 10 1 600 200 20 2 50 0 0\nctxt 1\n"
        )
        monkeypatch.setattr(environment, "Path", lambda _: stat)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
        monkeypatch.setattr(os, "sysconf", lambda _: 100)
        assert environment.cpu_seconds() == (1.83, 9.83)

    def test_missing_proc_stat_gives_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment, "Path", lambda _: tmp_path / "stat")
        assert environment.cpu_seconds() is None
        (tmp_path / "stat").write_text("cpu0 0 0 0 0 0 0 0 0 0 0\n")
        assert environment.cpu_seconds() is None
