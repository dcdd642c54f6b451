"""Changes files of the clean tree at random, and checks the whole tree: `python tests/fuzz/records.py --seconds 60`.

Nothing may raise, hang, or print a problem that cannot be read; what is accepted can be shown on the site; what --fix
rewrites it rewrites once. It ends after its time, and fails if it has found something, which lies below .cache/fuzz/.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

sys.path.append(str(Path(__file__).parents[1]))

from fuzz.mutations import MUTATIONS
from headroom import rules
from headroom.records import Problem
from headroom.site import exports
from headroom.site.context import SiteData

ROOT = Path(__file__).parents[2]
CLEAN = ROOT / "tests" / "rule_cases" / "clean"
CPU_SECONDS = 10
"""What one check may take before it counts as a hang."""


class HangError(Exception):
    """A check has taken too long."""


@contextmanager
def limited() -> Iterator[None]:
    """Stop what computes for too long, however busy the machine is."""

    def stop(_: int, __: FrameType | None) -> None:
        raise HangError(f"more than {CPU_SECONDS} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass(slots=True)
class Fuzzer:
    """Changes files of a copy of the clean tree, and puts them right again.

    Args:
        root: where the copy is made.
        seed: the same gives the same changes.
        kept: where inputs that made something fail are kept.
    """

    root: Path
    seed: int
    kept: Path
    executions: int = 0
    accepted: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)
    clean: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the copy."""
        shutil.copytree(CLEAN, self.root)
        self.clean = {p.relative_to(CLEAN).as_posix(): p.read_bytes() for p in sorted(CLEAN.rglob("*")) if p.is_file()}

    def once(self) -> None:
        """Change one to three files, check the tree, and put it right."""
        random = Random(f"{self.seed}:{self.executions}")
        names = random.sample(sorted(self.clean), random.choice((1, 1, 1, 2, 3)))
        changed = {name: self._mutated(random, name) for name in names}
        for name, data in changed.items():
            (self.root / name).write_bytes(data)
        try:
            with limited():
                self.judge(changed)
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._keep(changed, traceback.format_exc())
        finally:
            for name in names:
                (self.root / name).write_bytes(self.clean[name])
        self.executions += 1

    def _mutated(self, random: Random, name: str) -> bytes:
        data = self.clean[name]
        if random.random() < 0.1:
            other = self.clean[random.choice(sorted(self.clean))]
            at, start = random.randrange(len(data) + 1), random.randrange(len(other) + 1)
            data = data[:at] + other[start : start + random.randrange(200)] + data[at:]
        for _ in range(random.choice((1, 1, 2, 4))):
            data = random.choice(MUTATIONS)(random, data)
        return data

    def judge(self, changed: dict[str, bytes]) -> None:
        """Check the tree; what is accepted is shown as well, and what can be rewritten is rewritten.

        Raises:
            AssertionError: something is not as it should be.
        """
        context = rules.Context.of(self.root)
        found = rules.check(context)
        for problem in found:
            self._judge(problem)
        self.problems.update({problem.rule for problem in found})
        self.accepted += not found
        if not context.tree.problems:
            site = SiteData(context.tree, context.board)
            exports.pages(site)
            exports.claims_json(site)
        fixed = list(rules.apply(self.root, context))
        after = rules.Context.of(self.root)
        assert list(rules.apply(self.root, after)) == [], "--fix rewrites what it has rewritten"
        for path in {fix.path for fix in fixed}:
            assert path in self.clean, path
            if path not in changed:
                (self.root / path).write_bytes(self.clean[path])

    def _judge(self, problem: Problem) -> None:
        line = str(problem)
        assert line.isprintable(), line
        assert problem.rule in {*rules.READING, *rules.RULES}, line
        assert problem.message, line
        assert problem.remedy, line
        path = self.root / problem.path
        if problem.line is not None and path.is_file():
            assert 1 <= problem.line <= path.read_bytes().count(b"\n") + 2, line

    def _keep(self, changed: dict[str, bytes], what: str) -> None:
        folder = self.kept / f"{self.seed}-{self.executions}"
        for name, data in changed.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        (folder / "TRACEBACK.txt").write_text(what, "utf-8", "backslashreplace")
        self.crashes.append(f"{folder}: {what.strip().splitlines()[-1]}")


def report(fuzzer: Fuzzer) -> Iterator[str]:
    """What was done and what was found, in lines."""
    yield f"{fuzzer.executions} trees checked with seed {fuzzer.seed}; {fuzzer.accepted} had no problem"
    yield from (f"  {count:6} {rule}" for rule, count in fuzzer.problems.most_common())
    yield from (f"FAILED {crash}" for crash in fuzzer.crashes)


def main() -> int:
    """Fuzz for a time, and show how far it is."""
    parser = argparse.ArgumentParser(description="Check the clean tree with files changed at random.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder) / "tree", options.seed, ROOT / ".cache" / "fuzz")
        end = told = time.monotonic()
        end += options.seconds
        while time.monotonic() < end:
            fuzzer.once()
            if time.monotonic() > told:
                left = end - time.monotonic()
                print(
                    f"\r{fuzzer.executions} trees, {len(fuzzer.crashes)} failures, {left:.0f} s left ",
                    end="",
                    file=sys.stderr,
                )
                told = time.monotonic() + 1
    print(file=sys.stderr)
    print("\n".join(report(fuzzer)))
    return 1 if fuzzer.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
