"""What `headroom check` costs in a large tree: CPU seconds and memory, from nothing, again, and after a change.

Run it by hand: `python tests/performance/check_at_scale.py [CLAIMS]`. In a temporary folder it makes a tree of 5,000
claims with two evidence files of 20 blocks each, half of it and a quarter, and calls the command in a child. A figure
is the child's user and system time, and its largest resident set; beside it stands its budget. Each is the least of
three calls, and what the largest took stands behind it: whatever else a machine does adds to the time of a process, and
never takes from it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from big_trees import PER_BENCHMARK, Plan, make
from headroom.files import sha256

CLAIMS = 5000
COLD_SECONDS, COLD_MIB = 20.0, 1024.0
CHANGED_SECONDS = 2.0
TRIES = 3
LINEAR = 1.25
"""How much more a claim may cost in the whole tree than in a quarter of it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call of the command took."""

    seconds: float
    mib: float


def check(root: Path) -> Cost:
    """Call the command on a tree in which nothing is wrong.

    Raises:
        RuntimeError: it found something.
    """
    command = [sys.executable, "-m", "headroom.cli", "check", "--root", str(root)]
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=said, env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _progress(words: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{words}", end="", file=sys.stderr, flush=True)


def _reported(words: str, costs: list[Cost], seconds: float, mib: float) -> bool:
    """Print a line, and say whether it keeps the budget."""
    _progress(" " * 60 + "\r")
    least, most = min(each.seconds for each in costs), max(each.seconds for each in costs)
    room = max(each.mib for each in costs)
    print(
        f"{words:<28}{least:6.2f} s of CPU, budget {seconds:5.2f} s, at most {most:5.2f} s;"
        f" {room:4.0f} MiB, budget {mib:.0f} MiB",
        flush=True,
    )
    return least <= seconds and room <= mib


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def _change_evidence(root: Path, plan: Plan) -> None:
    """Put another session in the place of one, under the name that its bytes must have."""
    old = min((root / f"checks/evidence/ways_{plan.group}").glob("*.json"))
    text = old.read_text("utf-8").replace('"harness": "0.1.', '"harness": "0.1.1')
    old.unlink()
    name = f"{old.stem.rpartition('-')[0]}-{sha256(text)[:12]}.json"
    old.with_name(name).write_text(text, "utf-8")


CHANGES: dict[str, Callable[[Path, Plan], None]] = {
    "nothing changed": lambda _root, _plan: None,
    "one claim changed": lambda root, plan: _append(root / plan.claim_file, "  - That it is simple.\n"),
    "one evidence file changed": _change_evidence,
    "one page changed": lambda root, plan: _append(root / plan.page_file, "\nOne more sentence.\n"),
}


def _from_nothing(root: Path) -> Cost:
    shutil.rmtree(root / ".cache", ignore_errors=True)
    return check(root)


def main(claims: int) -> int:
    """Print a line for each kind of call; 0 if all keep their budgets."""
    kept = True
    per_claim = []
    with tempfile.TemporaryDirectory() as folder:
        for size in (claims // 4, claims // 2, claims):
            root = Path(folder) / str(size)
            plans = make(root, size, _progress)
            _progress(f"checking {size} claims")
            costs = [_from_nothing(root) for _ in range(TRIES)]
            budget = max(COLD_SECONDS * size / CLAIMS, 1.0)
            kept &= _reported(f"{size:,} claims, {2 * size:,} sessions", costs, budget, COLD_MIB)
            per_claim.append(min(each.seconds for each in costs) / size)
        growth = per_claim[-1] / per_claim[0]
        kept &= growth <= LINEAR
        print(f"{'a claim of all, of a quarter':<28}{growth:6.2f} times as much, budget {LINEAR:.2f}")
        for words, change in CHANGES.items():
            costs = []
            for number in range(TRIES):
                change(root, plans[claims // 2 + number * PER_BENCHMARK])
                _progress(f"checking: {words}")
                costs.append(check(root))
            kept &= _reported(words, costs, CHANGED_SECONDS, COLD_MIB)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CLAIMS))
