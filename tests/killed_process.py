"""Start processes, kill them, and inspect what is left of them and of their tree."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factories import a_claim, write_tree
from headroom.execution.journal import FOLDER
from headroom.io.atomic_write import TEMPORARY
from headroom.records import load

HERE = Path(__file__).parent
CLAIM = a_claim(blocks=10)
RUNS = 30  # of a session of this claim
PATIENCE = 180.0  # seconds after which a test gives up


def a_tree(folder: Path) -> Path:
    """Write a tree with a claim to measure."""
    return write_tree(folder, [CLAIM])


def snapshot(root: Path) -> dict[str, bytes]:
    """Return the content of every file of a tree that a loader, a rule or git may read."""
    files = (path for path in root.rglob("*") if path.is_file() and not path.name.endswith(TEMPORARY))
    names = {path.relative_to(root).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(".cache/")}


@dataclass
class Doomed:
    """The command in a separate process, whose descendants share a mark in their environment."""

    process: subprocess.Popen[str]
    mark: str
    began: float = field(default_factory=time.monotonic)

    def ends(self) -> tuple[int, str, str]:
        """Wait for the end; return the exit code and the output."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def killed(self, number: signal.Signals = signal.SIGKILL) -> tuple[int, str, str]:
        """Send a signal, then wait for the end."""
        self.process.send_signal(number)
        return self.ends()

    def survivors(self) -> list[int]:
        """Return the processes that are left after a few seconds."""
        for _ in range(100):
            if not (left := list(marked(self.mark))):
                return []
            time.sleep(0.05)
        return left


def marked(mark: str) -> Iterator[int]:
    """Yield the processes that have this mark in their environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                yield int(path.parts[2])
        except OSError:
            continue


def start(command: list[str], before: Sequence[str] = (), **environment: str) -> Doomed:
    """Start a Python command in its own session, through the command `before`."""
    mark = uuid.uuid4().hex
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    process = subprocess.Popen(
        [*before, sys.executable, *command],
        env={**os.environ, "PYTHONPATH": path, "DOOMED": mark, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return Doomed(process, mark)


def measure(
    root: Path,
    *arguments: str,
    faults: Mapping[str, Any] | None = None,
    before: Sequence[str] = (),
    **environment: str,
) -> Doomed:
    """Start a session of the claim."""
    command = [str(HERE / "tiny_session.py"), json.dumps(dict(faults or {})), "measure", CLAIM.id]
    environment.setdefault("FINISHED", str(root.with_name(f"{root.name}.finished")))
    return start([*command, "--root", str(root), *arguments], before, **environment)


def measure_wanted(root: Path, *arguments: str, **faults: Any) -> Doomed:
    """Start `headroom measure --wanted`."""
    command = [str(HERE / "tiny_session.py"), json.dumps(faults), "measure", "--wanted", "--root", str(root)]
    return start([*command, *arguments], FINISHED=str(root.with_name(f"{root.name}.finished")))


def check_fix(root: Path, faults: Mapping[str, Any] | None = None, before: Sequence[str] = ()) -> Doomed:
    """Start `headroom check --fix`."""
    command = [str(HERE / "tiny_session.py"), json.dumps(dict(faults or {})), "check", "--fix"]
    return start([*command, "--root", str(root)], before)


def temporaries(root: Path) -> list[Path]:
    """Return the temporary files that writers have left in a tree."""
    return [path for path in root.rglob("*") if path.name.endswith(TEMPORARY)]


def wait_for(what: Callable[[], object], doomed: Doomed) -> None:
    """Wait until a condition is true or the process has ended."""
    while not what() and doomed.process.poll() is None:
        assert time.monotonic() - doomed.began < PATIENCE
        time.sleep(0.001)


def moments(seed: int, count: int, longest: float) -> list[float]:
    """Return random times from zero to the longest, in seconds, the same in every run."""
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    return [rng.uniform(0, longest) for _ in range(count)]


def journals(root: Path) -> list[Path]:
    """Return the journals of a tree, oldest first."""
    return sorted((root / FOLDER).glob("*.jsonl"), key=lambda path: path.stat().st_ctime_ns)


def lines(journal: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a journal."""
    text = journal.read_text("utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines() if line]


def lines_of(journal: Path) -> int:
    """Return the number of complete lines of a journal."""
    return journal.read_bytes().count(b"\n")


def assert_whole(root: Path, before: Mapping[str, bytes]) -> None:
    """Assert that the tree has only new, complete evidence, and that everything else is unchanged and readable."""
    after = snapshot(root)
    assert {name: after.get(name) for name in before} == dict(before)
    assert all(name.startswith("checks/evidence/") for name in after.keys() - before.keys())
    assert load(root).problems == ()
