"""Read this machine's hardware and state (CPU, GPU, driver, versions, load), to be recorded with measurements.

No value identifies the machine or its user. This module reads the GPU with nvidia-smi instead of torch, so that a fork
server, which must not create a CUDA context, can call it.
"""

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Packages that affect speed or memory; packages that are not installed are left out.
PACKAGES = ("torch", "transformers", "accelerate", "datasets", "numpy", "peft", "bitsandbytes", "torchao")
# Instruction sets that decide which kernels a CPU runs, by their Linux names.
INSTRUCTION_SETS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8", "asimd", "bf16", "sve")


@dataclass(frozen=True, slots=True)
class MachineState:
    """The hardware and state of a machine at the start of a session or run; ``unknown`` names the values not found."""

    device: str  # "cpu" or "cuda"
    product: str
    memory_bytes: int
    cores: int
    threads: int
    instruction_sets: tuple[str, ...]
    power_limit_w: float | None
    driver: str | None
    system: str
    virtualised: bool | None
    governor: str | None
    load_before: float
    versions: dict[str, str]
    unknown: tuple[str, ...] = field(default=())


def _cpuinfo() -> dict[str, str]:
    """Return the first processor's entries of /proc/cpuinfo, or an empty dict if there is no such file."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8", errors="replace").split("\n\n")[0] if path.exists() else ""
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _gpu() -> tuple[str, int, float | None, str] | None:
    """Return product, memory in bytes, power limit in watts (None: unknown) and driver of the first GPU, or None."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = "name,memory.total,power.limit,driver_version"
    command = [tool, f"--query-gpu={query}", "--format=csv,noheader,nounits", "--id=0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - fixed words
    if done.returncode != 0 or not done.stdout.strip():
        return None
    name, memory, power, driver = (part.strip() for part in done.stdout.strip().splitlines()[0].split(","))
    return name, int(float(memory)) << 20, _watts(power), driver


def _watts(text: str) -> float | None:
    """Return the power limit that nvidia-smi prints, or None for `[N/A]`."""
    try:
        return float(text)
    except ValueError:
        return None


def slowdowns(device: str) -> tuple[str, ...]:
    """Return the active thermal and hardware throttle reasons of the GPU; a power cap is normal and not one of them."""
    tool = shutil.which("nvidia-smi")
    if device != "cuda" or tool is None:
        return ()
    names = ("hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown")
    query = ",".join(f"clocks_throttle_reasons.{name}" for name in names)
    command = [tool, f"--query-gpu={query}", "--format=csv,noheader", "--id=0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - fixed words
    words = [word.strip() for word in done.stdout.split(",")]
    if len(words) != len(names):
        return ("unknown: the driver does not say",)
    return tuple(name for name, word in zip(names, words, strict=True) if word == "Active")


def cpu_seconds() -> tuple[float, float] | None:
    """Return the busy and the total seconds, summed over this process's cores, since the machine started.

    Time stolen by a hypervisor counts as busy. The result is None if the system does not report these times.
    """
    path = Path("/proc/stat")
    if not path.exists():
        return None
    cores = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    rows = (row.split() for row in path.read_text(encoding="ascii").splitlines())
    times = [[int(value) for value in row[1:9]] for row in rows if row and row[0] in cores]
    tick = os.sysconf("SC_CLK_TCK")
    every = sum(map(sum, times)) / tick
    idle = sum(row[3] + row[4] for row in times) / tick  # idle, and idle while it waits for a disk
    return (every - idle, every) if every else None


def memory_bytes() -> int:
    """Return the bytes of this machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _governor() -> str | None:
    path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return path.read_text(encoding="utf-8").strip() if path.exists() else None


def observe(device: str = "auto", threads: int | None = None) -> MachineState:
    """Return the hardware and state of this machine.

    Args:
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        threads: the threads of a measurement; by default OMP_NUM_THREADS, or one per core.

    Raises:
        ValueError: the device is ``cuda``, and there is no GPU.
    """
    gpu = None if device == "cpu" else _gpu()
    if device == "cuda" and gpu is None:
        raise ValueError("this machine has no CUDA device; use --device cpu, or a machine with a GPU")
    cpu = _cpuinfo()
    flags = set((cpu.get("flags") or cpu.get("features") or "").split())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    governor = _governor()
    return MachineState(
        device="cuda" if gpu else "cpu",
        product=gpu[0] if gpu else cpu.get("model name") or platform.processor() or platform.machine(),
        memory_bytes=gpu[1] if gpu else memory_bytes(),
        cores=cores,
        threads=threads or int((os.environ.get("OMP_NUM_THREADS") or str(cores)).split(",")[0]),
        instruction_sets=tuple(name for name in INSTRUCTION_SETS if name in flags),
        power_limit_w=gpu[2] if gpu else None,
        driver=gpu[3] if gpu else None,
        system=f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        virtualised="hypervisor" in flags if flags else None,
        governor=governor,
        load_before=os.getloadavg()[0],
        versions=_versions(),
        unknown=(
            *("clock", "temperature", "turbo"),
            *(() if governor else ("governor",)),
            *(("power_limit",) if gpu and gpu[2] is None else ()),
        ),
    )
