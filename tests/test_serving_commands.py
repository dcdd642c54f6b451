"""Test the commands and manifests of the guide on serving: shell syntax, options of each engine, and fields."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from manifest_fields import faults

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/inference/serving.md").read_text(encoding="utf-8")
KNOWN = yaml.safe_load((REPOSITORY / "tests/serving_flags.yml").read_text(encoding="utf-8"))


def fences(language: str) -> list[str]:
    """Return the fenced blocks of a language, without their indentation."""
    found = re.findall(rf"(?ms)^( *)```{language}\n(.*?)^ *```$", PAGE)
    return [re.sub(rf"(?m)^{indent}", "", body) for indent, body in found]


def calls(block: str) -> list[tuple[str, list[str]]]:
    """Return the program of each line of a block, by its longest known name, and the options that follow."""
    found = []
    for row in block.replace("\\\n", " ").splitlines():
        names = [name for name in KNOWN if row.startswith(f"{name} ")]
        words = shlex.split(row, comments=True)
        options = [word.removeprefix("--").partition("=")[0] for word in words if word.startswith("--")]
        found.append((max(names, key=len, default=row), options))
    return found


def unknown(block: str) -> list[str]:
    """Return each program or option of a block that nobody has read in the engine's source."""
    return [
        f"{program} --{option}"
        for program, options in calls(block)
        for option in (options if program in KNOWN else [*options, "?"])
        if program not in KNOWN or option not in KNOWN[program]["flags"]
    ]


def test_every_shell_block_parses() -> None:
    blocks = fences("bash")
    assert len(blocks) == 13
    for block in blocks:
        done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{block}"


def test_options_are_in_the_source_of_the_engine() -> None:
    ours = [block for block in fences("bash") if not block.startswith("serve run ")]
    assert [fault for block in ours for fault in unknown(block)] == []
    used = {program for block in ours for program, _ in calls(block)}
    assert used == set(KNOWN) - {"headroom estimate"}


def test_an_option_of_another_engine_is_reported() -> None:
    assert unknown("vllm serve model --max-model-len 8 --context-length 8") == ["vllm serve --context-length"]
    assert unknown("vllm bench serve --max-model-len 8") == ["vllm bench serve --max-model-len"]
    assert unknown("other-engine --port 1")[0].endswith("--port")


def test_options_in_sentences_are_known_and_each_known_option_is_used() -> None:
    named = set(re.findall(r"--([a-z][a-zA-Z0-9_-]+)", "\n".join(re.findall(r"`[^`\n]+`", PAGE))))
    fenced = {option for block in fences("bash") for _, options in calls(block) for option in options}
    known = {flag for each in KNOWN.values() for flag in each["flags"]}
    assert named <= known, named - known
    assert known == named | fenced, known - named - fenced


# In a separate process, so that no other test finds torch loaded.
SIGNATURE = """
import inspect, json
from transformers.cli.serve import Serve
print(json.dumps([name.replace("_", "-") for name in inspect.signature(Serve.__init__).parameters]))
"""


@pytest.mark.slow
def test_transformers_serve_has_its_options() -> None:
    child = subprocess.run([sys.executable, "-c", SIGNATURE], capture_output=True, text=True, check=True)
    options = json.loads(child.stdout.splitlines()[-1])
    assert set(KNOWN["transformers serve"]["flags"]) <= set(options)
    assert "cb-pages" not in options


def fields(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / "tests" / name).read_text(encoding="utf-8"))


def test_manifests_have_only_fields_of_their_definitions() -> None:
    pool, ray = (yaml.safe_load(block) for block in fences("yaml"))
    assert faults(pool, fields("inference_pool_fields.yml")) == []
    assert faults(ray, fields("ray_serve_fields.yml")) == []
    pool["spec"]["targetPorts"][0]["number"] = "8000"
    pool["spec"]["extensionRef"] = pool["spec"].pop("endpointPickerRef")
    assert faults(pool, fields("inference_pool_fields.yml")) == [
        "manifest.spec.targetPorts[0].number is not integer",
        "manifest.spec.extensionRef is unknown",
    ]
    del ray["applications"][0]["args"]["llm_configs"][0]["model_loading_config"]["model_id"]
    assert faults(ray, fields("ray_serve_fields.yml")) == [
        "manifest.applications[0].args.llm_configs[0].model_loading_config lacks model_id"
    ]
