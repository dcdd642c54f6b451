"""Test running snippets, their ablations, their records, and the pytest plugin."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from headroom import environment
from headroom.cli import OK, main
from headroom.execution import ablation_rotation, snippet_runner
from headroom.execution.isolation import ProcessOutcome
from headroom.execution.local_hub import HubError
from headroom.execution.script_child import Report
from headroom.execution.snippet_outcome import judge
from headroom.execution.snippet_runner import AblationDetected, Failed, NotRun, Passed, Runner
from headroom.records.snippets import Snippet
from headroom.records.tree import Tree, load

HALVE = 'ablation = { "x / 2" = "x / 1" }'
NO_ABLATION = 'no_ablation = "none"'
TORCHRUN = 'launch = "torchrun --nproc-per-node 2"\n'
RANKS = """
import torch.distributed as dist
import torch
dist.init_process_group("gloo")
x = torch.tensor([4.0]) * (dist.get_rank() + 1)
dist.all_reduce(x)
y = x / 2
print(f"rank {dist.get_rank()} has {y.item()}")
"""
FOR_EVER = """
import subprocess, sys
p = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print("child", p.pid, file=sys.stderr, flush=True)
while True: pass
"""
WARNED = """
import logging, time, warnings
time.sleep(0.01)
for _ in range(2): warnings.warn(f"two\\nlines {__file__} " + 400 * "x", stacklevel=1)
logging.getLogger("accelerate").warning("slow")
logging.getLogger("accelerate").info("fast")
"""
MAIN = """
import os, sys, time
time.sleep(0.01)
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
assert sys.argv == [__file__] and __file__.endswith("main.py") and os.listdir() == []
sys.exit(0)
"""
MODEL = """
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("some/gpt2")
model = AutoModelForCausalLM.from_pretrained("some/gpt2")
model.generate(**tokenizer("a", return_tensors="pt"), max_new_tokens=1)
x = load_dataset("some/rows")["train"].num_rows
y = x / 2
assert y == 2
"""
SNIPPETS = {
    "halves": (HALVE, "import time\ntime.sleep(0.01)\nx = 4\ny = x / 2\nassert y == 2, f'{y} is not\\n2'"),
    "no_message": (HALVE, "x = 4\ny = x / 2\nassert (\n    y\n    == 2\n)"),
    "not_detected": (HALVE, "import time\ntime.sleep(0.01)\nx = 4\ny = x / 2\nassert y"),
    "other_error": (HALVE, "x = 4\ny = x / 2\n{2: 1}[y]"),
    "in_library": (HALVE, "import torch\nx = 4\ntorch.testing.assert_close(x / 2, 2.0)"),
    "by_hand": (HALVE, "x = 4\ny = x / 2\nassert y\nif y != 2: raise AssertionError('no')"),
    "ablated_for_ever": ("timeout = 1\n" + HALVE, "x = 4\ny = x / 2\nwhile y != 2: pass"),
    "ablated_exit": (HALVE, "import os\nx = 4\ny = x / 2\nif y != 2: os._exit(1)"),
    "wrong": (HALVE, "x = 4\n\ndef proof(y):\n    assert y == 3, 'not three'\n\nproof(x / 2)"),
    "for_ever": ("timeout = 2\n" + NO_ABLATION, FOR_EVER),
    "leaves": (HALVE, "import os\nx = 4\ny = x / 2\nos._exit(0)\nassert y == 2"),
    "crashes": (NO_ABLATION, "import os\nos.abort()"),
    "empty": (NO_ABLATION, "pass"),
    "deprecated": (
        NO_ABLATION,
        "import warnings, time\ntime.sleep(0.01)\nwarnings.warn('use the other', FutureWarning, stacklevel=1)",
    ),
    "logged": (
        NO_ABLATION,
        "import logging, time\ntime.sleep(0.01)\nlogging.getLogger('transformers.x').warning('y is Deprecated')",
    ),
    "warned": (NO_ABLATION, WARNED),
    "commented": (
        HALVE,
        "import time\ntime.sleep(0.01)\nx = 4\ny = x / 2\nprint(y)  # on: 2.0, off: 4 or 5\nassert y == 2",
    ),
    "wrong_comment": (
        HALVE,
        "import time\ntime.sleep(0.01)\nx = 4\ny = x / 2\nprint(y)  # on: 3.0, off: 6\nassert y == 2",
    ),
    "network": (
        NO_ABLATION,
        "import socket, time\ntime.sleep(0.01)\nsocket.create_connection(('192.0.2.1', 80), timeout=20)",
    ),
    "main": (NO_ABLATION, MAIN),
    "on_gpus": ("needs = ['cuda:2', 'bf16']\n" + NO_ABLATION, "assert False"),
    "unknown": ("needs = ['cuda']\nmodels = ['no/model']\n" + NO_ABLATION, "assert False"),
    "ranks/both": (TORCHRUN + HALVE, f"{RANKS}assert y == 6\ndist.destroy_process_group()"),
    "ranks/first": (TORCHRUN + HALVE, f"{RANKS}assert y == 6 or dist.get_rank() == 0\ndist.barrier()"),
    "model": ('models = ["some/gpt2"]\ndatasets = ["some/rows"]\n' + HALVE, MODEL),
}
STAND_INS = """
models:
  some/gpt2:
    architecture: GPT2LMHeadModel
    dtype: float32
    config: {n_layer: 1, n_embd: 16, n_head: 2}
datasets:
  some/rows: {config: plain, column: text, splits: {train: 4}}
"""
CLASSES = """
small:
  {name: small, device: cpu, match: {threads: 1}, peak_flops: 1.0e+12, peak_flops_source: arithmetic}
big:
  {name: big, device: cuda, match: {product: big}, peak_flops: 1.0e+15, peak_flops_source: arithmetic}
"""


def write_tree(root: Path, chosen: dict[str, tuple[str, str]]) -> None:
    """Write a tree with these snippets, each given by its header and its code."""
    texts = {"LICENSE": "A licence.\n\nIt allows everything.", "checks/registry/.keep": ""}
    texts |= {"checks/facts/stand-ins.yml": STAND_INS, "checks/facts/hardware-classes.yml": CLASSES}
    for name, (header, code) in chosen.items():
        table = "".join(f"# {line}\n" for line in ["[tool.headroom]", *header.splitlines()])
        texts[f"snippets/{name}.py"] = f'# /// script\n{table}# ///\n"""What it shows."""\n{code}\n'
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    root = tmp_path_factory.mktemp("tree")
    write_tree(root, SNIPPETS)
    tree = load(root)
    assert not tree.problems
    return tree


@pytest.fixture(scope="module")
def runner(tree: Tree) -> Iterator[Runner]:
    runner = Runner(tree, tree.root / ".cache")
    yield runner
    runner.close()


def fail(runner: Runner, snippet: Snippet, *, ablated: bool = False) -> Failed:
    """Run a snippet that must fail, and return the failure."""
    result = runner.run_ablated(snippet) if ablated else runner.run(snippet)
    assert isinstance(result, Failed), result
    return result


@pytest.mark.parametrize("name", ["halves", "model", "main", "commented"])
def test_snippet_with_a_true_proof_passes(tree: Tree, runner: Runner, name: str) -> None:
    result = runner.run(tree.snippets[name])
    assert isinstance(result, Passed), result
    assert (result.device, result.hub, result.warnings) == ("cpu", "stand-in", ())
    assert result.seconds > 0
    assert result.peak_memory_bytes > 100 << 20
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("halves", "4.0 is not 2"),
        ("no_message", "assert y == 2"),
        ("model", "assert y == 2"),
        ("commented", "assert y == 2"),
    ],
)
def test_failed_assertion_detects_the_ablation(tree: Tree, runner: Runner, name: str, message: str) -> None:
    result = runner.run_ablated(tree.snippets[name])
    assert isinstance(result, AblationDetected), result
    assert result.message == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not_detected", "all assertions passed; assert the effect of the technique"),
        ("other_error", "line 8 raised KeyError: 4.0; choose an ablation that"),
        ("in_library", "a library's assertion failed ("),
        ("by_hand", "line 9 raised an AssertionError without an `assert`"),
        ("ablated_for_ever", "still running after 1 s"),
        ("ablated_exit", "ended by exit code 1"),
        ("leaves", "it ended before its last line"),
        ("wrong_comment", "the script did not print the value of `off: 6`; correct the comment"),
    ],
)
def test_ablation_without_a_failed_assertion_of_the_script_fails(
    tree: Tree, runner: Runner, name: str, message: str
) -> None:
    failed = fail(runner, tree.snippets[name], ablated=True)
    assert failed.kind == "ablation"
    expected = f"snippets/{name}.py:1: the proof did not detect the ablation: {message}"
    assert failed.message.startswith(expected)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("wrong", "error", "9: AssertionError: not three; correct the script"),
        ("leaves", "no report", "1: it ended before its last line; do not call os._exit"),
        ("crashes", "exit", "1: ended by SIGABRT; its standard error may name the cause"),
        ("deprecated", "deprecation", "1: FutureWarning: use the other; use the replacement that the warning names"),
        ("logged", "deprecation", "1: transformers.x: y is Deprecated; use the replacement that the warning names"),
        ("network", "error", "1: OSError: "),
        ("wrong_comment", "unprinted", "10: the script did not print the value of `on: 3.0`; correct the comment"),
        ("unknown", "stand-in", " there is no stand-in for no/model; add it to checks/facts/stand-ins.yml"),
    ],
)
def test_faulty_snippet_fails_with_kind_line_and_remedy(
    tree: Tree, runner: Runner, name: str, kind: str, message: str
) -> None:
    failed = fail(runner, tree.snippets[name])
    assert failed.kind == kind
    assert failed.message.startswith(f"snippets/{name}.py:{message}")


def test_empty_snippet_fails(tree: Tree) -> None:
    """The time is given here: on a busy machine even an empty script can take longer than a millisecond."""
    outcome = ProcessOutcome(
        exit_code=0,
        seconds=0.02,
        cpu_seconds=0.01,
        peak_memory_bytes=1 << 20,
        timed_out=False,
        over_memory=False,
        stdout="",
        stderr="",
        network="blocked",
        others_cpu=None,
    )
    failed = judge(tree.snippets["empty"], outcome, [Report(seconds=0.0004)], "stand-in")
    assert isinstance(failed, Failed)
    assert failed.kind == "empty"
    assert failed.message == ("snippets/empty.py:1: took 0.000 s, so it ran nothing; write the technique and its proof")
    assert isinstance(judge(tree.snippets["empty"], outcome, [Report(seconds=0.0006)], "stand-in"), Passed)


def test_traceback_shows_the_script_and_not_the_runner(tree: Tree, runner: Runner) -> None:
    stderr = fail(runner, tree.snippets["wrong"]).stderr
    assert stderr.startswith("Traceback (most recent call last):\n")
    assert "wrong.py" in stderr
    assert "runpy" not in stderr
    assert "headroom/execution" not in stderr


def test_endless_snippet_is_killed_with_its_processes(tree: Tree, runner: Runner) -> None:
    failed = fail(runner, tree.snippets["for_ever"])
    assert failed.kind == "time"
    assert failed.message.endswith("still running after 2 s; make the script smaller, or raise `timeout` in its header")
    assert not psutil.pid_exists(int(failed.stderr.split()[-1]))


def test_snippet_over_the_memory_limit_is_killed(tree: Tree, runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snippet_runner, "MEMORY_LIMIT", 64 << 20)
    assert fail(runner, tree.snippets["for_ever"]).kind == "memory"


def test_distinct_warnings_are_recorded_on_one_line_each(tree: Tree, runner: Runner) -> None:
    result = runner.run(tree.snippets["warned"])
    assert isinstance(result, Passed), result
    assert result.warnings == (("UserWarning: two lines warned.py " + 300 * "x")[:300], "accelerate: slow")


@pytest.mark.slow
def test_ranks_pass_together(tree: Tree, runner: Runner) -> None:
    result = runner.run(tree.snippets["ranks/both"])
    assert isinstance(result, Passed), result
    assert "rank 0 has 6.0" in result.stdout
    assert "rank 1 has 6.0" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranks/both", "ranks/first"])
def test_first_failed_rank_counts(tree: Tree, runner: Runner, name: str) -> None:
    ablated = runner.run_ablated(tree.snippets[name])
    assert isinstance(ablated, AblationDetected), ablated
    assert ablated.message.startswith("assert y == 6")


def test_snippet_that_needs_absent_hardware_is_not_run(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    runner = Runner(tree, Path("nowhere"))
    for result in (runner.run(tree.snippets["on_gpus"]), runner.run_ablated(tree.snippets["on_gpus"])):
        assert isinstance(result, NotRun)
        assert result.reason.startswith("needs cuda:2")
    assert runner._server is None


@pytest.mark.parametrize("wanted", ["torch>=99", "no-such-package", ">= no name"])
def test_snippet_with_a_missing_dependency_is_not_run(tree: Tree, wanted: str) -> None:
    snippet = tree.snippets["halves"].model_copy(update={"dependencies": ("torch>=2", wanted)})
    result = Runner(tree, Path("nowhere")).run(snippet)
    assert isinstance(result, NotRun)
    assert result.reason == f"needs {wanted}, which is not installed"


def test_gpus_are_counted_with_nvidia_smi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: a (UUID: x)'\necho '  MIG 1g'\necho 'GPU 1: b'\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert snippet_runner._absent(["cuda", "cuda:2", "bf16"]) == []
    assert snippet_runner._absent(["cuda:3"]) == ["cuda:3"]


@pytest.mark.parametrize(("gpus", "variables"), [(0, {"DS_ACCELERATOR": "cpu"}), (1, {})])
def test_deepspeed_is_told_its_device_only_without_a_gpu(
    gpus: int, variables: dict[str, str], tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(snippet_runner, "_gpus", lambda: gpus)
    monkeypatch.setenv("HEADROOM_HUB", "real")
    given = Runner(tree, tmp_path)._start_server()._environment
    assert {name: value for name, value in given.items() if name.startswith("DS_")} == variables


def test_real_hub_is_used_on_request(tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADROOM_HUB", "real")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    runner = Runner(tree, tmp_path)
    server = runner._start_server()
    assert "HF_HOME" not in server._environment
    assert "HF_HUB_OFFLINE" not in server._environment
    assert runner._obstacle(tree.snippets["model"]) is None
    assert not list(tmp_path.iterdir())


def test_extensions_are_compiled_below_the_cache_and_locks_of_killed_builds_are_removed(tmp_path: Path) -> None:
    for name in ("killed", "building"):
        (tmp_path / "extensions" / name).mkdir(parents=True)
        (tmp_path / "extensions" / name / "lock").touch()
    started = time.time() - snippet_runner.LONGEST_BUILD - 1
    os.utime(tmp_path / "extensions/killed/lock", (started, started))
    variables = snippet_runner._compilers(tmp_path)
    assert [lock.parent.name for lock in tmp_path.glob("extensions/*/lock")] == ["building"]
    assert variables["TORCH_EXTENSIONS_DIR"] == str(tmp_path / "extensions")
    assert variables["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_missing_license_is_an_error_because_stand_ins_need_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"main": SNIPPETS["main"]})
    (tmp_path / "LICENSE").unlink()
    tree = load(tmp_path)
    with pytest.raises(HubError, match="LICENSE: no such file, but the stand-ins are trained on its text; add it"):
        Runner(tree, tmp_path).run(tree.snippets["main"])


def test_changed_lists_snippets_without_a_cpu_record(tree: Tree, tmp_path: Path) -> None:
    write_tree(tmp_path, {name: SNIPPETS[name] for name in ("model", "main")})
    passed = Passed(1.23456, 1.0, 1 << 30, "cpu", "stand-in", ("UserWarning: slow",), "")
    for hardware_class, expected in (("big", {"model", "main"}), ("small", {"main"})):
        run = snippet_runner.record(
            passed, AblationDetected(2.0, "assert x / 2 == 2"), tree.snippets["model"], hardware_class, "2026-11-21"
        )
        path = snippet_runner.write(run, tmp_path)
        assert path == tmp_path / f"checks/runs/model/{hardware_class}.json"
        found = load(tmp_path)
        assert not found.problems
        assert found.runs["model", hardware_class] == run
        assert snippet_runner.changed(found) == expected
    data = json.loads(path.read_text())
    assert (data["seconds"], data["models"], data["warnings"]) == (
        1.235,
        {"some/gpt2": "stand-in"},
        ["UserWarning: slow"],
    )
    script = tmp_path / "snippets/model.py"
    script.write_text(script.read_text() + "# changed\n")
    assert snippet_runner.changed(load(tmp_path)) == {"model", "main"}


def test_record_has_the_output_of_the_unchanged_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Paths of the temporary folder are replaced; a silent script has no output field."""
    printing = "import time\ntime.sleep(0.01)\nx = 4\ny = x / 2\nprint(f'y is {y}')\nprint(__file__)\nassert y == 2"
    silent = "import time\ntime.sleep(0.01)"
    write_tree(tmp_path, {"printing": (HALVE, printing), "silent": (NO_ABLATION, silent)})
    assert main(["snippets", "run", "--record", "--root", str(tmp_path)]) == OK, capsys.readouterr()
    found = {
        path.parent.name: json.loads(path.read_text("utf-8")) for path in (tmp_path / "checks/runs").rglob("*.json")
    }
    assert found["printing"]["output"] == "y is 2.0\n…/printing.py"
    assert "output" not in found["silent"]
    assert not load(tmp_path).problems


def run_pytest(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a tree, with only this plugin."""
    (root / "conftest.py").write_text(
        "import sys\n\ndef pytest_sessionfinish():\n    assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    (root / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\nfilterwarnings = error\n")
    command = [sys.executable, "-m", "pytest", "-p", "headroom.pytest_plugin", *arguments]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
    }
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_pytest_runs_each_snippet_and_its_ablation(tree: Tree, tmp_path: Path) -> None:
    write_tree(tmp_path, {name: SNIPPETS[name] for name in ("halves", "not_detected", "on_gpus", "main")})
    (tree.root / ".cache").mkdir(exist_ok=True)
    (tmp_path / ".cache").symlink_to(tree.root / ".cache")
    (tmp_path / "snippets/broken.py").write_text('# /// script\n# ///\n"""It has no table."""\n')
    done = run_pytest(tmp_path, "-v", "-rs", "--continue-on-collection-errors")
    assert done.stdout.count(" PASSED ") == 4, done.stdout + done.stderr
    for line in ("halves.py::run PASSED", "halves.py::ablation PASSED", "main.py::run PASSED"):
        assert f"snippets/{line}" in done.stdout
    assert "snippets/not_detected.py::ablation FAILED" in done.stdout
    assert "snippets/not_detected.py:1: the proof did not detect" in done.stdout
    assert "not run: snippets/on_gpus.py needs cuda:2" in done.stdout or "on_gpus.py::run FAILED" in done.stdout
    assert "ERROR collecting snippets/broken.py" in done.stdout
    assert "snippets/broken.py:1: snippets: " in done.stdout
    assert "main.py::ablation" not in done.stdout
    assert "def runtest" not in done.stdout
    assert done.returncode == 1


def test_pytest_collects_scripts_of_the_snippets_folder_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"halves": SNIPPETS["halves"], "deep/main": SNIPPETS["main"]})
    for name in ("other/x.py", "tests/snippets/y.py", "snippets.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit")
    every = ["snippets/deep/main.py::run", "snippets/halves.py::run", "snippets/halves.py::ablation"]
    for arguments, expected in (((), every), (("snippets/deep/main.py",), every[:1])):
        done = run_pytest(tmp_path, "--collect-only", "-q", *arguments)
        assert [line for line in done.stdout.splitlines() if "::" in line] == expected, done.stdout
        assert done.returncode == 0, "a script was imported"
    (tmp_path / "checks/registry/.keep").unlink()
    (tmp_path / "checks/registry").rmdir()
    assert "::" not in run_pytest(tmp_path, "--collect-only", "-q").stdout


def test_pytest_changed_deselects_recorded_snippets(tree: Tree, tmp_path: Path) -> None:
    write_tree(tmp_path, {name: SNIPPETS[name] for name in ("halves", "main")})
    passed = Passed(1.0, 1.0, 1 << 30, "cpu", "stand-in", (), "")
    snippet_runner.write(snippet_runner.record(passed, None, tree.snippets["main"], "small", "2026-11-21"), tmp_path)
    done = run_pytest(tmp_path, "--collect-only", "--changed", "-q")
    assert "halves.py::ablation" in done.stdout
    assert "main.py" not in done.stdout
    assert "1 deselected" in done.stdout


def test_ci_runs_the_ablations_that_changed_and_those_of_the_week(tree: Tree, tmp_path: Path) -> None:
    """A record of another text, version or runner does not count; without a history, the week is 0."""
    write_tree(tmp_path, {"halves": SNIPPETS["halves"]})
    halves, versions = tree.snippets["halves"], environment.observe("cpu").versions
    passed = Passed(1.0, 1.0, 1 << 30, "cpu", "stand-in", (), "")
    shown = snippet_runner.record(passed, AblationDetected(1.0, "AssertionError"), halves, "small", "2026-11-21")
    own_week = ablation_rotation.quarter(halves) == 0

    def left(**changed: object) -> set[str]:
        snippet_runner.write(shown.model_copy(update=changed), tmp_path)
        return ablation_rotation.due(load(tmp_path), versions)

    assert left() == ({"halves"} if own_week else set())
    assert left(sha256="0" * 64) == left(runner="0" * 64) == left(runner=None) == {"halves"}
    assert left(versions={**shown.versions, "torch": "1.0"}) == left(ablation=None) == {"halves"}


def test_each_week_has_about_a_quarter_of_the_ablations() -> None:
    found = load(Path(__file__).parents[1]).snippets.values()
    counts = Counter(map(ablation_rotation.quarter, found))
    assert set(counts) == {0, 1, 2, 3}
    assert max(counts.values()) < len(found) / 2
