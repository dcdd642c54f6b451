"""Test `headroom measure --via`: one session per task, lost tasks, duplicates, load, and the engines."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factories import a_claim, write_tree
from headroom.cli import FAILED, OK, USAGE, main
from headroom.execution import fleet
from headroom.execution.fleet_task import FleetResult, FleetTask
from headroom.records import load
from headroom.verdicts import judge_all

HERE = Path(__file__).parent
CLAIM = a_claim(blocks=10)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tree with a claim; its workers log each finished run."""
    monkeypatch.setenv("FINISHED", str(tmp_path / "finished"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", ""))))
    return write_tree(tmp_path / "tree", [CLAIM])


def a_task(root: Path, seconds: float = 60, **faults: Any) -> FleetTask:
    """Return a task whose runs are short and need no torch."""
    command = (str(HERE / "tiny_session.py"), json.dumps({"complete": True, **faults}))
    return FleetTask(str(root), (CLAIM.id,), "cpu", seconds, command)


def results(task: FleetTask, machines: int, engine: str = "local") -> list[FleetResult]:
    """Return the results of a fleet."""
    return list(fleet.run(engine, task, machines, {}))


def when_running(root: Path, then: Callable[[], None]) -> threading.Thread:
    """Call a function in a thread once a worker has finished a run."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not (root.parent / "finished").exists() and time.monotonic() < until:
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def workers(root: Path) -> list[int]:
    """Return the processes in which submitit runs the tasks of a tree."""
    pattern = f"submitit.core._submit {root}"
    found = subprocess.run(["pgrep", "--full", pattern], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]


def test_two_tasks_give_two_sessions(root: Path) -> None:
    paths = [fleet.adopted(result, root)[0] for result in results(a_task(root), 2)]
    assert len({*paths}) == 2
    assert None not in paths
    tree = load(root)
    assert [session.path for session in tree.sessions] == sorted(str(path.relative_to(root)) for path in paths if path)
    assert {session.head.design.blocks for session in tree.sessions} == {10}
    assert not tree.problems


def test_a_killed_task_is_not_run_and_leaves_no_session_behind(root: Path) -> None:
    thread = when_running(root, lambda: [os.kill(each, signal.SIGKILL) for each in workers(root)])
    (lost,) = results(a_task(root, wait=0.2), 1)
    thread.join()
    assert lost.evidence == ""
    assert lost.reason.startswith("the engine lost the task (")
    assert fleet.adopted(lost, root) == (None, lost)
    done = (root.parent / "finished").read_text()
    time.sleep(2)
    assert len((root.parent / "finished").read_text()) <= len(done) + len("clever\n")  # the run that was on its way
    assert load(root).sessions == ()


def test_the_time_limit_ends_a_session(root: Path) -> None:
    (late,) = results(a_task(root, seconds=4, wait=1), 1)
    assert late.evidence == ""
    assert late.reason == "the time limit of 4 s ended it"


def test_load_on_a_worker_shuts_the_gate(root: Path) -> None:
    for share, status in ((0.0, "supported"), (0.5, "inconclusive")):
        (result,) = results(a_task(root, others_cpu=share), 1)
        path, _ = fleet.adopted(result, root)
        assert path
        tree = load(root)
        point = judge_all(tree).standings[CLAIM.id]["cpu"].verdict.points[0]  # type: ignore[union-attr]
        path.unlink()
        if share:
            assert (point.verdict, point.reason) == (status, "machine_busy")
        else:
            assert point.reason != "machine_busy"


def test_a_session_that_the_tree_has_is_refused(root: Path) -> None:
    (result,) = results(a_task(root), 1)
    assert fleet.adopted(result, root)[0]
    path, refused = fleet.adopted(result, root)
    assert path is None
    assert refused.reason.endswith("which the tree has already")


def test_what_is_no_evidence_is_refused(root: Path) -> None:
    path, refused = fleet.adopted(FleetResult("m", '{"benchmark": 1}', ""), root)
    assert path is None
    assert refused.reason.startswith("it sent no valid evidence: ")


class TestCommand:
    """`headroom measure --via`."""

    def call(self, root: Path, *words: str) -> int:
        return main(["measure", CLAIM.id, "--via", "local", "--root", str(root), *words])

    def test_prints_each_session_and_fails_if_a_machine_sent_none(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (good,) = results(a_task(root), 1)
        asked: list[Any] = []

        def run(*arguments: Any) -> list[FleetResult]:
            asked.append(arguments)
            return [good, FleetResult("unknown", "", "the node is gone")]

        monkeypatch.setattr(fleet, "run", run)
        assert self.call(root, "--machines", "2", "--minutes", "3") == FAILED
        out, err = capsys.readouterr()
        assert (root / out.strip()).is_file()
        assert "2 of 2 (machine unknown): not run: the node is gone" in err
        ((engine, task, machines, options),) = asked
        assert (engine, task.seconds, machines, options) == ("local", 180, 2, {})
        (root / out.strip()).unlink()
        monkeypatch.setattr(fleet, "run", lambda *_: [good])
        assert self.call(root, "--json") == OK
        assert json.loads(capsys.readouterr().out) == {"added": [out.strip()], "not_run": 0}

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--out", "x"), "--via takes names, and neither --wanted nor --out nor --pack"),
            (("--engine-option", "partition=gpu"), "this engine has no option 'partition'; its options: none"),
        ],
    )
    def test_wrong_use(
        self, root: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.call(root, *words) == USAGE
        assert message in capsys.readouterr().err

    def test_options_of_a_fleet_need_an_engine(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["measure", CLAIM.id, "--root", str(root), "--machines", "2"]) == USAGE
        assert "--machines and --engine-option belong to --via" in capsys.readouterr().err

    def test_a_missing_engine_is_named(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "submitit", None)
        assert self.call(root) == USAGE
        assert "submitit is not installed; run pip install 'headroom[fleet]'" in capsys.readouterr().err


def test_slurm_gets_one_exclusive_node_per_task(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for sbatch keeps the script and gives a job number; the results never come."""
    submitit = pytest.importorskip("submitit")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (
        ("sbatch", f'cat "$1" > {tmp_path}/script\necho "Submitted batch job 42"'),
        ("srun", ""),
        ("sacct", ""),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(submitit.helpers, "as_completed", list)
    monkeypatch.setattr(submitit.SlurmJob, "result", lambda _: FleetResult("a", "", "no cluster here"))
    found = list(fleet.run("slurm", a_task(root, seconds=600), 3, {"partition": "gpu"}))
    assert [each.reason for each in found] == ["no cluster here"] * 3
    script = (tmp_path / "script").read_text()
    for line in ("--array=0-2", "--exclusive", "--partition=gpu", "--time=12"):
        assert f"#SBATCH {line}" in script


@pytest.mark.slow
def test_ray_runs_one_task_per_node(root: Path) -> None:
    """Ray is only in the environment of the search snippets."""
    environment = Path(__file__).parents[1] / ".cache/environments/search/bin/python"
    if not environment.exists():
        pytest.skip("not run: the environment `search` is not built")
    task = a_task(root)
    code = f"""
        from pathlib import Path
        from headroom.execution import fleet
        from headroom.execution.fleet_task import FleetTask
        task = FleetTask({task.root!r}, {task.names!r}, "cpu", 60, {task.command!r})
        (found,) = fleet.run("ray", task, 3, {{"address": "local"}})
        print(fleet.adopted(found, Path({str(root)!r}))[0] or found.reason)
    """
    path = os.pathsep.join(
        (str(HERE.parent / "checks"), os.environ["PYTHONPATH"])
    )  # the package is not installed there
    done = subprocess.run(
        [str(environment), "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [session.path for session in load(root).sessions] == [done.stdout.strip().removeprefix(f"{root}/")]
