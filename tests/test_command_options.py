"""Test the options of commands on the pages: the source or the installed parser of the command has each."""

import ast
import contextlib
import io
import re
from collections.abc import Iterable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from headroom.cli import main

REPOSITORY = Path(__file__).parents[1]
PAGES = sorted(page for part in ("inference", "models", "training") for page in REPOSITORY.glob(f"docs/{part}/**/*.md"))
LISTED = yaml.safe_load((REPOSITORY / "tests/command_options.yml").read_text(encoding="utf-8"))


def syntax(path: str) -> ast.Module:
    """Return the syntax tree of a file of an installed package, without importing the package."""
    spec = find_spec(path.partition("/")[0])
    assert spec is not None
    assert spec.origin is not None
    return ast.parse((Path(spec.origin).parents[1] / path).read_text(encoding="utf-8"))


def parser_options(path: str) -> set[str]:
    """Return the options that a file adds to its parser."""
    calls = [each for each in ast.walk(syntax(path)) if isinstance(each, ast.Call)]
    added = [call.args for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"]
    names = [str(each.value) for words in added for each in words if isinstance(each, ast.Constant)]
    return {name.removeprefix("--") for name in names if name.startswith("--")}


def parameters(path: str, name: str) -> set[str]:
    """Return the fields of a class, and the parameters of its ``__init__``."""
    (found,) = (each for each in syntax(path).body if isinstance(each, ast.ClassDef) and each.name == name)
    fields = [each.target for each in found.body if isinstance(each, ast.AnnAssign)]
    made = [each.args.args for each in found.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    return {each.id for each in fields if isinstance(each, ast.Name)} | {each.arg for words in made for each in words}


def headroom_options(command: str) -> set[str]:
    """Return the options in the help text of a subcommand of ``headroom``."""
    with contextlib.redirect_stdout(io.StringIO()) as text, pytest.raises(SystemExit):
        main([command, "--help"])
    return set(re.findall(r"(?<!\w)--([a-z-]+)", text.getvalue()))


def transformers_serve_options() -> set[str]:
    return {name.replace("_", "-") for name in parameters("transformers/cli/serve.py", "Serve")}


trainer_options = partial(parameters, "transformers/training_args.py", "TrainingArguments")
INSTALLED = {
    "accelerate launch": partial(parser_options, "accelerate/commands/launch.py"),
    "deepspeed": partial(parser_options, "deepspeed/launcher/runner.py"),
    "headroom estimate": partial(headroom_options, "estimate"),
    "headroom trace": partial(headroom_options, "trace"),
    "torchfrtrace": partial(parser_options, "torch/distributed/flight_recorder/components/config_manager.py"),
    "torchrun": partial(parser_options, "torch/distributed/run.py"),
    "train.py": trainer_options,
    "transformers serve": transformers_serve_options,
}
COMMANDS = sorted({*LISTED, *INSTALLED})
ALSO = {command: each["also"] for command, each in LISTED.items() if "also" in each}


@cache
def options(command: str) -> set[str]:
    listed = set(LISTED.get(command, {}).get("flags", ()))
    return listed | INSTALLED[command]() if command in INSTALLED else listed


def called(name: str) -> list[str]:
    """Return the commands that have a name."""
    return [command for command in COMMANDS if name in (command, *ALSO.get(command, ()))]


FENCE = re.compile(r"(?ms)^( *)```(\w*)[^\n]*\n(.*?)^ *```$")
_NAMES = sorted({*COMMANDS, *(name for names in ALSO.values() for name in names)}, key=len, reverse=True)
NAME = re.compile(rf"(?<!pip install )(?<![\w/.-])(?:{'|'.join(map(re.escape, _NAMES))})(?!\.?[\w-])")
WORD = re.compile(rf"(?P<name>{NAME.pattern})|(?P<script>\w+\.py\b)|(?P<rest>…)|(?<![\w-])--(?P<option>[A-Za-z][\w-]*)")


def unknown(code: str, commands: Iterable[str] = ()) -> list[str]:
    """Return the options in a line of code that the command before them lacks, or else each of these commands."""
    found = []
    asked = list(dict.fromkeys(commands))
    for word in WORD.finditer(code):
        if word["name"]:
            asked = called(word["name"])
        elif word["script"]:
            asked = ["train.py"]
        elif word["rest"]:
            asked = COMMANDS
        elif not any(word["option"] in options(command) for command in asked):
            found.append(f"{'any command' if asked == COMMANDS else ' or '.join(asked) or code} --{word['option']}")
    return found


def faults(text: str) -> list[str]:
    """Return the unknown options of a page. Only a shell command must name its program before an option."""
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    found = []
    for _, language, block in FENCE.findall(text):
        for row in block.replace("\\\n", " ").splitlines():
            comment = row.lstrip().startswith("# ")
            shell = row.startswith("$ ") or (language == "bash" and not comment)
            found += unknown(row, () if shell else COMMANDS)
    for row in FENCE.sub("", text).splitlines():
        named = [command for name in NAME.findall(row) for command in called(name)]
        for span in re.findall(r"`[^`]+`", row):
            found += unknown(span, named or COMMANDS)
    return found


def test_commands_on_pages_have_their_options() -> None:
    found = {page.relative_to(REPOSITORY).as_posix(): faults(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: each for page, each in found.items() if each} == {}


def test_each_listed_option_is_on_a_page() -> None:
    text = "".join(re.sub(r"(?s)<!--.*?-->", "", page.read_text(encoding="utf-8")) for page in PAGES)
    used = set(re.findall(r"(?<![\w-])--([A-Za-z][\w-]*)", text))
    assert {flag for each in LISTED.values() for flag in each["flags"]} - used == set()


def test_listed_options_agree_with_the_installed_versions() -> None:
    assert LISTED["the Trainer of old guides"]["flags"] != []
    assert options("the Trainer of old guides") & trainer_options() == set()
    assert "cb-pages" not in options("transformers serve")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```bash\nvllm serve model --max-model-len 8 \\\n  --context-length 8\n```", ["vllm serve --context-length"]),
        ("```bash\nvllm bench serve --max-model-len 8\n```", ["vllm bench serve --max-model-len"]),
        ("```bash\nother-engine --port 1\n```", ["other-engine --port 1 --port"]),
        ("```console\n$ numactl --membind=0 torchrun --membind=0\n```", ["torchrun --membind"]),
        ("```bash\nsrun --time=1 torchrun train.py --resume x --nnodes 2\n```", ["srun --time", "train.py --nnodes"]),
        ("```bash\n# --nnodes, --no-nodes\n```", ["any command --no-nodes"]),
        ("SGLang has `--max-model-len`.", ["sglang serve --max-model-len"]),
        ("vLLM and SGLang have `--kv-cache-dtype`. <!-- `--x` -->", []),
        ("`--nnodes` and `torchrun --no-nodes`, `mpirun … --no_cuda`", ["torchrun --no-nodes"]),
    ],
)
def test_option_of_another_command_is_reported(text: str, found: list[str]) -> None:
    assert faults(text) == found
