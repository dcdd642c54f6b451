"""Test snippets that run in an environment of their own, with a library that the main one lacks."""

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from headroom.cli import OK, main
from headroom.execution import ablation_rotation, snippet_environments
from headroom.execution.snippet_environments import BuiltEnvironments
from headroom.execution.snippet_runner import AblationDetected, Failed, NotRun, Passed, Runner
from headroom.records.tree import Tree, load
from test_snippets_runner import write_tree

PINS = """
small:
  reason: the main one lacks the library
  packages:
    Made-Up_Library: {version: 1.2.3, reason: made up}
"""
HEADER = 'environment = "small"\nablation = { "VALUE * 2" = "VALUE" }'
CODE = """
import importlib.util, socket, sys, time
import made_up_library
time.sleep(0.01)
assert importlib.util.find_spec("pydantic") is None
assert sys.argv == [__file__] and "" not in sys.path
doubled = made_up_library.VALUE * 2
assert doubled == 42
try:
    socket.create_connection(("192.0.2.1", 80), timeout=20)
except OSError as error:
    assert "unreachable" in str(error).lower() or "blocked" in str(error), error
else:
    assert False
"""
SNIPPETS = {
    "own": (HEADER, CODE),
    "ranks": (
        'environment = "small"\nlaunch = "torchrun --nproc-per-node 2"\nno_ablation = "none"',
        "import made_up_library",
    ),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A tree whose environment is not built, and next to it a wheel of its library."""
    root = tmp_path_factory.mktemp("tree")
    write_tree(root, SNIPPETS)
    (root / "checks/facts/environments.yml").write_text(PINS, "utf-8")
    script = root / "snippets/own.py"
    table = '# requires-python = ">=3.11"\n# dependencies = ["made-up-library>=1.2"]\n'
    script.write_text(script.read_text("utf-8").replace("# /// script\n", f"# /// script\n{table}"), "utf-8")
    for version, value in (("1.2.3", 21), ("1.3.0", 30)):
        _wheel(root, version, value)
    tree = load(root)
    assert not tree.problems
    return tree


def _wheel(folder: Path, version: str, value: int) -> None:
    """Write a wheel that pip can install without a network."""
    info = f"made_up_library-{version}.dist-info"
    with zipfile.ZipFile(folder / f"made_up_library-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("made_up_library.py", f"VALUE = {value}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: made_up_library\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def built(tree: Tree) -> BuiltEnvironments:
    """Build the environment from the wheel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(tree.root))
        snippet_environments.main(tree.root)
    return BuiltEnvironments(tree.environments, tree.root / ".cache")


@pytest.fixture
def runner(tree: Tree) -> Iterator[Runner]:
    runner = Runner(tree, tree.root / ".cache", preload=("a_module_that_is_missing",))
    yield runner
    runner.close()


@pytest.mark.parametrize("name", ["own", "ranks"])
def test_snippet_of_a_missing_environment_is_not_run(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """In CI, which builds every environment, that is a failure."""
    monkeypatch.delenv("CI", raising=False)
    runner, snippet = Runner(tree, tmp_path), tree.snippets[name]
    reason = "needs the environment small, which is not built; run `make environments`"
    assert runner.run(snippet) == runner.run_ablated(snippet) == NotRun(reason)
    monkeypatch.setenv("CI", "true")
    expected = Failed("environment", f"snippets/{name}.py:1: {reason}")
    assert runner.run(snippet) == runner.run_ablated(snippet) == expected


def test_environment_that_lacks_a_requirement_is_named(
    tree: Tree, built: BuiltEnvironments, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert built.versions("small")["made-up-library"] == "1.2.3"
    monkeypatch.delenv("CI", raising=False)
    snippet = tree.snippets["own"].model_copy(update={"dependencies": ("made-up-library>=2", "pydantic")})
    runner = Runner(tree, tree.root / ".cache")
    reason = "needs made-up-library>=2, pydantic, which is not installed"
    assert runner.run(snippet) == NotRun(reason)
    monkeypatch.setenv("CI", "true")
    assert runner.run(snippet) == Failed("environment", f"snippets/own.py:1: {reason}")


@pytest.mark.usefixtures("built")
def test_snippet_runs_with_the_libraries_of_its_environment(tree: Tree, runner: Runner) -> None:
    """The main libraries are not even imported, and the network stays blocked."""
    passed = runner.run(tree.snippets["own"])
    assert isinstance(passed, Passed), passed
    ablated = runner.run_ablated(tree.snippets["own"])
    assert isinstance(ablated, AblationDetected), ablated
    assert ablated.message == "assert doubled == 42"


@pytest.mark.usefixtures("built")
def test_torchrun_starts_in_the_environment(tree: Tree, runner: Runner) -> None:
    """It has no torch here, so that the launch fails on this import."""
    failed = runner.run(tree.snippets["ranks"])
    assert isinstance(failed, Failed), failed
    assert "No module named 'torch'" in failed.stderr


@pytest.mark.usefixtures("built")
def test_record_names_the_environment_and_its_pins(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    """Other pins make its ablation due."""
    assert main(["snippets", "run", "own", "--record", "--root", str(tree.root)]) == OK, capsys.readouterr()
    (path,) = (tree.root / "checks/runs").rglob("*.json")
    data = json.loads(path.read_text("utf-8"))
    assert data["environment"] == "small"
    assert set(data["versions"]) == {"python", "Made-Up_Library"}
    now = load(tree.root)
    assert not now.problems
    own_week = {"own"} if ablation_rotation.quarter(now.snippets["own"]) == 0 else set()
    assert ablation_rotation.due(now, {}) - {"ranks"} == own_week
    pins = tree.root / "checks/facts/environments.yml"
    pins.write_text(PINS.replace("1.2.3", "1.3.0"), "utf-8")
    assert "own" in ablation_rotation.due(load(tree.root), {})
    pins.write_text(PINS, "utf-8")


def test_environment_is_built_once_for_its_pins(tree: Tree, built: BuiltEnvironments) -> None:
    stamp = built.python("small").parents[1] / "pins"
    before = stamp.stat().st_mtime_ns
    built.build()
    assert stamp.stat().st_mtime_ns == before
    (pin,) = tree.environments["small"].packages.values()
    other = tree.environments["small"].model_copy(update={"packages": {"another-library": pin}})
    assert not BuiltEnvironments({"small": other}, tree.root / ".cache").is_built("small")
    assert not built.is_built("unknown")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "checks/facts/environments.yml names no environment; add one"),
        ("small: {packages: {x: {version: latest}}}\n", "checks/facts/environments.yml:1: facts: "),
    ],
)
def test_make_fails_without_a_valid_record(tmp_path: Path, text: str | None, message: str) -> None:
    if text:
        (tmp_path / "checks/facts").mkdir(parents=True)
        (tmp_path / "checks/facts/environments.yml").write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=re.escape(message)):
        snippet_environments.main(tmp_path)


@pytest.mark.usefixtures("built")
def test_failed_build_leaves_no_stamp(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder has no package index to install from."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    building = BuiltEnvironments(tree.environments, tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        building.build()
    assert not building.is_built("small")
