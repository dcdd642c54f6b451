"""Test the commands and manifests of the guide on serving: shell syntax and fields."""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from manifest_fields import faults

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/inference/serving.md").read_text(encoding="utf-8")


def fences(language: str) -> list[str]:
    """Return the fenced blocks of a language, without their indentation."""
    found = re.findall(rf"(?ms)^( *)```{language}\n(.*?)^ *```$", PAGE)
    return [re.sub(rf"(?m)^{indent}", "", body) for indent, body in found]


def test_every_shell_block_parses() -> None:
    blocks = fences("bash")
    assert len(blocks) == 13
    for block in blocks:
        done = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\n{block}"


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
