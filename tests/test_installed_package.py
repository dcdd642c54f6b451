"""A wheel in an empty folder: `estimate`, `plan` and `topology` print what they print in a checkout."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from headroom.cli import OK, USAGE, main
from headroom.records.data_root import data_root

ROOT = Path(__file__).parents[1]
MATRIX = str(ROOT / "tests/topology/texts/hybrid-cube-mesh.txt")
COMMANDS = (
    ("estimate", "meta-llama/Llama-3.1-8B", "--job", "lora", "--card", "24GB"),
    ("estimate", "Qwen/Qwen3-30B-A3B", "--job", "decode", "--card", "H100", "--batch", "32"),
    ("estimate", "meta-llama/Llama-3.1-8B", "--engine", "vllm", "--card", "RTX 4090", "--max-model-len", "16384"),
    ("plan", "meta-llama/Llama-3.1-8B", "--card", "H100", "--gpus", "8", "--batch", "64", "--length", "8192"),
    ("topology", MATRIX),
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder into which pip would unpack the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(folder / "unpacked")
    return folder / "unpacked"


def run(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder with the unpacked wheel; -S keeps an editable install, a .pth file, off the path."""
    path = os.pathsep.join((str(installed), sysconfig.get_path("purelib")))
    called = [sys.executable, "-S", *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(called, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_prints_the_same_in_an_empty_folder_as_in_a_checkout(
    command: tuple[str, ...],
    installed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(installed, tmp_path, "-m", "headroom.cli", *command)
    assert (done.returncode, done.stderr) == (OK, "")
    monkeypatch.chdir(ROOT)
    assert main(command) == OK
    assert done.stdout == capsys.readouterr().out


def test_functions_read_the_packaged_records_without_torch(installed: Path, tmp_path: Path) -> None:
    code = """import sys, headroom
found = headroom.estimate("llama-3.1-8b", job="lora"), headroom.plan("llama-3.1-8b", card="H100", gpus=2, batch=64)
print(headroom.__file__, found[0].peak, len(found[1].layouts), "torch" in sys.modules, sep="\\n")"""
    done = run(installed, tmp_path, "-c", code)
    file, peak, layouts, torch = done.stdout.splitlines()
    assert Path(file).is_relative_to(installed)
    assert int(peak) > 2**34
    assert int(layouts) > 0
    assert torch == "False"


@pytest.mark.parametrize("command", [("check",), ("estimate", "llama-3.1-8b", "--root", ".")], ids=" ".join)
def test_missing_clone_is_named_with_the_remedy(command: tuple[str, ...], installed: Path, tmp_path: Path) -> None:
    """`--root` is an explicit wish for the records of a clone."""
    done = run(installed, tmp_path, "-m", "headroom.cli", *command)
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert f"{tmp_path} has no folder checks/registry/, so it is no clone of the project" in done.stderr
    assert "run `git clone` and `cd` into the clone, or use --root DIR" in done.stderr


def test_current_project_goes_before_the_records_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_root() == ROOT  # an editable install has no copy
    (tmp_path / "checks/registry").mkdir(parents=True)
    assert data_root() == tmp_path
    assert data_root("elsewhere") == Path("elsewhere")
