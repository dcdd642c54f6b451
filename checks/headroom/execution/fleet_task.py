"""Measure on one machine of a fleet: the function that an engine calls there, with nothing but the standard library.

The tree is copied first, because two nodes of a cluster may share its folder, and a session locks the tree.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

MEASURE = ("-c", "from headroom.cli import command; command()")
_LEFT_OUT = (".cache", ".venv", "site", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_END_SECONDS = 30  # within which a session that is asked to end closes its journal
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class FleetTask:
    """What one machine measures."""

    root: str
    """The project's folder, as the machine sees it."""
    names: tuple[str, ...]
    """Claims, or one benchmark."""
    device: str
    seconds: float
    """The time limit of the session."""
    command: tuple[str, ...] = MEASURE
    """The arguments with which Python starts the command `headroom`."""


@dataclass(frozen=True, slots=True)
class FleetResult:
    """What came back from one machine."""

    machine: str
    """A short hash that tells the machines of one call apart; no record contains it."""
    evidence: str
    """The text of the evidence file; empty if there is none."""
    reason: str
    """Why there is no evidence; empty if there is."""


def measure_here(task: FleetTask) -> FleetResult:
    """Run one unchanged session on this machine in a copy of the tree."""
    name = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    with tempfile.TemporaryDirectory(prefix="headroom-fleet-") as folder:
        tree, out = Path(folder) / "tree", Path(folder) / "out"
        shutil.copytree(task.root, tree, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
        out.mkdir()
        said = _measure(task, tree, out)
        files = sorted(out.rglob("*.json"))
        if len(files) == 1:
            return FleetResult(name, files[0].read_text(encoding="utf-8"), "")
    return FleetResult(name, "", (said.strip().splitlines() or ["the session said nothing"])[-1])


def _measure(task: FleetTask, tree: Path, out: Path) -> str:
    """Run `headroom measure` until its end or the time limit, and return what it wrote to standard error."""
    words = ["measure", *task.names, "--device", task.device, "--root", str(tree), "--out", str(out)]
    path = os.pathsep.join(filter(None, (str(tree / "checks"), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, *task.command, *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - one system call, before anything has threads
    ) as process:
        try:
            return process.communicate(timeout=task.seconds)[1]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
        try:
            return f"{process.communicate(timeout=_END_SECONDS)[1]}\nthe time limit of {task.seconds:.0f} s ended it"
        except subprocess.TimeoutExpired:
            process.kill()
            return f"killed {_END_SECONDS} s after the time limit of {task.seconds:.0f} s"


def _end_with_parent() -> None:
    """Ask the kernel to end this process with its parent, so that a killed task measures nothing further."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
