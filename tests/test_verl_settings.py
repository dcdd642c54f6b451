"""Test the settings of verl and TRL in the guide on reinforcement learning against their sources."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/training/reinforcement-learning.md").read_text(encoding="utf-8")
VERL = yaml.safe_load((REPOSITORY / "tests/verl_settings.yml").read_text(encoding="utf-8"))["settings"]
COMMAND = re.compile(r"python3 -m verl\.trainer\.main_ppo((?:\\\n|.)*)")
PRINTED = re.compile(r"`([\w.]+)` \(`?([^`,)]+)")
WORDS = {"on": True, "off": False, "null": None, "False": False, "True": True}


def value(word: str) -> object:
    """Return what a cell of the table means."""
    return WORDS[word] if word in WORDS else ast.literal_eval(word)


def trl_defaults() -> dict[str, object]:
    """Return the defaults of GRPOConfig's fields, from the source of the installed TRL."""
    spec = find_spec("trl")
    assert spec is not None
    assert spec.origin is not None
    source = (Path(spec.origin).parent / "trainer/grpo_config.py").read_text(encoding="utf-8")
    (config,) = (
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "GRPOConfig"
    )
    found = {}
    for node in config.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Call):
            given = {word.arg: word.value for word in node.value.keywords}
            if isinstance(given.get("default"), ast.Constant):
                found[node.target.id] = ast.literal_eval(given["default"])
    return found


def rows() -> list[list[str]]:
    """Return the cells of the table that sets TRL's settings beside verl's."""
    _, found = PAGE.split("| TRL, with its default | verl, with its default |\n|---|---|\n")
    return [line.strip("| ").split(" | ") for line in found.split("\n\n")[0].splitlines()]


def settings(command: str) -> list[str]:
    """Return the settings that a command of verl overrides."""
    return re.findall(r"(?<=\s)([a-z][\w.]+)=", command)


def unlike(cells: list[str], known: dict[str, object]) -> list[str]:
    """Return the names in cells that are unknown, or whose default is another one. A name may lack its first parts."""
    found = []
    for cell in cells:
        for name, word in PRINTED.findall(cell):
            full = [key for key in known if key == name or key.endswith(f".{name}")]
            if len(full) != 1 or known[full[0]] != value(word):
                found.append(name)
    return found


def test_the_command_overrides_settings_that_verl_has() -> None:
    (command,) = COMMAND.findall(PAGE)
    assert len(settings(command)) == 13
    assert {*settings(command)} <= {*VERL}
    assert settings(" data.train_batch_sizes=128 \\\n  algorithm.n=2") == ["data.train_batch_sizes", "algorithm.n"]


def test_every_default_of_the_table_is_that_of_its_library() -> None:
    ours, theirs = zip(*rows(), strict=True)
    assert len(ours) == 7
    assert all(PRINTED.search(cell) for cell in (*ours, *theirs))
    assert unlike([*ours], trl_defaults()) == []
    assert unlike([*theirs], VERL) == []


@pytest.mark.parametrize("cell", ["`beta` (0.04)", "`betas` (0.0)", "`vllm_enable_sleep_mode` (`True`)"])
def test_another_name_or_default_is_noticed(cell: str) -> None:
    assert len(unlike([cell], trl_defaults())) == 1


def test_every_recorded_setting_is_on_the_page() -> None:
    assert [name for name in VERL if name not in PAGE and f"`{name.rpartition('.')[2]}`" not in PAGE] == []
