"""Test the commands and manifests of the pages on several GPUs and machines: shell syntax, arguments and fields."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from manifest_fields import faults

REPOSITORY = Path(__file__).parents[1]
PAGES = (
    "docs/training/many-machines.md",
    "docs/training/multi-cpu.md",
    "docs/training/multi-gpu/when-it-does-not-work.md",
)


def fences(language: str) -> list[str]:
    """Return the fenced blocks of a language on the pages, without their indentation."""
    found = []
    for page in PAGES:
        text = (REPOSITORY / page).read_text(encoding="utf-8")
        for indent, body in re.findall(rf"(?ms)^( *)```{language}\n(.*?)^ *```$", text):
            found.append(re.sub(rf"(?m)^{indent}", "", body))
    return found


def commands(program: str) -> Iterator[list[str]]:
    """Return the arguments of each call of a program, with 1 for each shell variable."""
    for block in fences("bash"):
        for row in block.replace("\\\n", " ").splitlines():
            words = shlex.split(re.sub(r"\$\w+", "1", row), comments=True)
            if program in words:
                yield [word for word in words[words.index(program) + 1 :] if word != "&"]


def test_every_shell_block_parses() -> None:
    blocks = fences("bash")
    assert len(blocks) >= 9
    for block in blocks:
        done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{block}"


def test_bash_reports_a_broken_block() -> None:
    done = subprocess.run(["bash", "-n"], input="for x in 1; do\n", capture_output=True, text=True, check=False)
    assert done.returncode != 0


# In a separate process, so that no other test finds torch loaded.
PARSE = """
import contextlib, io, json, sys
from accelerate.commands.launch import launch_command_parser
from torch.distributed.run import get_args_parser

def read(parser, call):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return {name: str(value) for name, value in vars(parser().parse_args(call)).items()}
    except SystemExit:
        return None

parsers = {"torchrun": get_args_parser, "accelerate": launch_command_parser}
print(json.dumps([read(parsers[program], call) for program, call in json.load(sys.stdin)]))
"""


@pytest.mark.slow
def test_torchrun_and_accelerate_accept_every_command() -> None:
    torchrun = list(commands("torchrun"))
    accelerate = [call[1:] for call in commands("accelerate") if call[0] == "launch"]
    assert len(torchrun) >= 10
    assert accelerate
    wrong = ["torchrun", ["--nodes-in-total", "2", "train.py"]]
    asked = [*(["torchrun", call] for call in torchrun), *(["accelerate", call] for call in accelerate), wrong]
    child = subprocess.run(
        [sys.executable, "-c", PARSE], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    *read, refused = json.loads(child.stdout)
    assert refused is None
    *started, launched = read
    for call, options in zip(torchrun, started, strict=True):
        assert options["training_script"] == "train.py", call
        assert options["nproc_per_node"] in {"1", "2", "8"}, call
    assert [launched[name] for name in ("training_script", "num_machines", "num_processes")] == ["train.py", "2", "16"]


def test_trainjob_has_only_fields_of_its_definition() -> None:
    wanted = yaml.safe_load((REPOSITORY / "tests/trainjob_fields.yml").read_text(encoding="utf-8"))
    manifests = [yaml.safe_load(block) for block in fences("yaml")]
    assert len(manifests) == 2
    assert [faults(each, wanted) for each in manifests] == [[], []]
    manifests[0]["spec"]["trainer"]["numNodes"] = "2"
    manifests[0]["spec"]["trainer"]["replicas"] = 2
    del manifests[0]["spec"]["runtimeRef"]["name"]
    assert faults(manifests[0], wanted) == [
        "manifest.spec.runtimeRef lacks name",
        "manifest.spec.trainer.numNodes is not integer",
        "manifest.spec.trainer.replicas is unknown",
    ]
