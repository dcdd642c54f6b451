"""Names, defaults, versions and sources in pages and records agree with the installed libraries."""

import ast
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headroom.io.python_source import parse_python
from headroom.pages.markdown_syntax import without_fences
from headroom.records import load

ROOT = Path(__file__).parents[2]
GUIDE = "training/single-gpu.md"
LIBRARIES = ("transformers", "accelerate", "peft", "torch", "bitsandbytes", "torchao", "trl")
# Names of libraries that are not installed, by the source that was read; the guide links it.
EXTERNAL = {
    "unslothai/unsloth/blob/015bdef0d94a241bcd94eec7a405b1700632180d": {
        *("FastLanguageModel", "FastModel", "full_finetuning", "load_in_16bit", "load_in_fp8", "fast_inference"),
        *("offload_embedding", "unsloth_tiled_mlp", "unsloth", "UNSLOTH_RETURN_LOGITS"),
        "UNSLOTH_DISABLE_AUTO_PADDING_FREE",
    },
    "unslothai/unsloth/blob/main": {"UNSLOTH_PADDING_CHOICE"},
    "unslothai/unsloth-zoo/blob/ce232d6cef9cb8cd34cd3727906131622177436b": {
        *("UNSLOTH_CE_LOSS_TARGET_GB", "UNSLOTH_CE_LOSS_N_CHUNKS"),
    },
    "axolotl-ai-cloud/axolotl/blob/067b021c8b87a9e5e380b9173c704cf7340e30f5": {
        *("sample_packing", "pad_to_sequence_len", "sequence_len", "excess_length_strategy", "batch_flattening"),
        *("selective_checkpointing", "layer_offloading", "chunked_cross_entropy", "quantize_moe_experts"),
        *("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel", "lora_embedding_kernel"),
        *("LigerPlugin", "CutCrossEntropyPlugin", "liger_fused_linear_cross_entropy"),
    },
    "NVIDIA/TransformerEngine/blob/d0067d0da6cb01811b8072a7d304f0e00344ce2b": {
        *("NVFP4BlockScaling", "disable_rht", "disable_stochastic_rounding"),
    },
    "apple/ml-cross-entropy/blob/d42911f9b1a1f98289bb601c35c8151562603d74": {"cce_exact", "filter_eps"},
    "databricks/flashoptim/blob/1b1f1531bb870dd044c1a1280f93fc524d5666e6": {"master_weight_bits"},
}
WORD = re.compile(r"[A-Za-z_]\w{3,}(?![\w*])")  # `adam_*` means several names
DEFAULT = re.compile(r"`(?P<name>\w+)=(?P<value>[^`]+)`(?:\*\*)?, the (?:Trainer's )?default\b(?! on)")


# In a separate process, so that no other test finds torch loaded.
ASK = """
import dataclasses, json
from transformers import TrainingArguments
from transformers.training_args import OptimizerNames
values = {field.name: field.default for field in dataclasses.fields(TrainingArguments)}
plain = {name: getattr(value, "value", value) for name, value in values.items()}
optimizers = [name.value for name in OptimizerNames]
print(json.dumps({"defaults": plain, "optimizers": optimizers}, default=str))
"""


def guide() -> str:
    """Return the text of the guide's pages."""
    first = ROOT / "docs" / GUIDE
    return "\n".join(path.read_text("utf-8") for path in (first, *sorted(first.with_suffix("").glob("*.md"))))


def old_names() -> list[list[str]]:
    """Return the rows of the guide's tables of old names: old and present names."""
    tables = [part.partition("\n\n")[0] for part in guide().split("| Old | Today |")[1:]]
    return [line.strip("| ").split(" | ") for table in tables for line in table.splitlines()[2:]]


def words(text: str) -> set[str]:
    """Return the names in a text's inline code."""
    return {name for code in re.findall(r"`([^`\n]+)`", text) for name in WORD.findall(code)}


def files(library: str) -> Iterator[Path]:
    """Yield the Python files of an installed library, and the headers of c10."""
    found = importlib.util.find_spec(library)
    assert found, library
    assert found.origin, library
    folder = Path(found.origin).parent
    yield from sorted(folder.rglob("*.py"))
    yield from sorted((folder / "include/c10").rglob("*.h"))


@pytest.fixture(scope="module")
def trainer() -> dict[str, Any]:
    """Return the defaults of the installed Trainer's arguments, and the names of its optimizers."""
    printed = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True).stdout
    known: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return known


class TestNames:
    @pytest.mark.slow
    def test_every_name_in_code_exists(self) -> None:
        """Names in the guide's inline code are in one of our scripts or in a library's source.

        Old names are in the table of old names, or not marked as code.
        """
        left = words(without_fences(guide())) - {name for row in old_names() for name in words(row[0])}
        ours = [path for folder in ("snippets", "checks/benchmarks") for path in (ROOT / folder).rglob("*.py")]
        assert set().union(*EXTERNAL.values()) <= left, "an external name is no longer in the guide"
        left.difference_update(*EXTERNAL.values())
        for path in (*ours, *(each for library in LIBRARIES for each in files(library))):
            left.difference_update(WORD.findall(path.read_text("utf-8", errors="replace")))
            if not left:
                break
        assert left == set()

    def test_guide_links_the_source_of_external_names(self) -> None:
        """At the commit that was read."""
        assert [source for source in EXTERNAL if f"https://github.com/{source}/" not in guide()] == []

    @pytest.mark.slow
    def test_old_names_of_the_trainer_do_not_exist(self, trainer: dict[str, Any]) -> None:
        """Names with "gone in" or "deprecated until" a later version still exist."""
        known = {*trainer["defaults"], *trainer["optimizers"]}
        rows = old_names()
        assert len(rows) > 5
        for old, _ in rows:
            names = set(re.findall(r"`([a-z0-9_]+)(?:=[^`]*)?`", old))
            later = re.search(r"gone in|deprecated until", old)
            assert names & known == (names if later else set()), old


class TestDefaults:
    @pytest.mark.slow
    def test_defaults_in_sentences_are_those_of_the_trainer(self, trainer: dict[str, Any]) -> None:
        """In each "`name=value`, the default", if the name is an argument of the Trainer."""
        found = [match.groups() for match in DEFAULT.finditer(guide()) if match["name"] in trainer["defaults"]]
        assert len(found) > 1
        for name, value in found:
            assert value.strip('"') == str(trainer["defaults"][name]), name

    @pytest.mark.slow
    def test_defaults_in_the_fact_sheet_are_those_of_the_trainer(self, trainer: dict[str, Any]) -> None:
        """Each figure has the name of its argument."""
        for name, figure in load(ROOT).facts["trainer-defaults"].figures.items():
            assert figure.value == trainer["defaults"][name], name


class TestHeaders:
    """The dependencies in a snippet's header."""

    def test_lowest_versions_are_tested_ones(self) -> None:
        """No lowest version is below that of pyproject.toml, or other than the pin of the snippet's environment."""
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        tried = dict(bound(each) for each in extras["snippets"])
        tree = load(ROOT)
        for snippet in tree.snippets.values():
            own = tree.environments.get(snippet.header.environment or "")
            for name, low in map(bound, snippet.dependencies):
                if own:
                    pin = tuple(int(part) for part in own.packages[name].version.split("."))
                    assert low == pin[: len(low)], f"{snippet.path}: {name}"
                else:
                    assert low >= tried.get(name, low), f"{snippet.path}: {name}"

    def test_headers_name_every_imported_library(self) -> None:
        """So a snippet runs alone."""
        for snippet in load(ROOT).snippets.values():
            named = {bound(each)[0].replace("-", "_") for each in snippet.dependencies}
            assert imported(snippet.source) - sys.stdlib_module_names <= named, snippet.path


def bound(requirement: str) -> tuple[str, tuple[int, ...]]:
    """Return a library's name and its lowest version."""
    name, _, low = requirement.partition(">=")
    return name, tuple(int(part) for part in low.partition(",")[0].split(".") if part)


def imported(source: str) -> set[str]:
    """Return the packages that a script imports."""
    found = set()
    for node in ast.walk(parse_python(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@cache
def version(library: str) -> str:
    """Return major and minor version of an installed library."""
    return ".".join(importlib.metadata.version(library).split(".")[:2])


def near(text: str, locator: str) -> set[float]:
    """Return the numbers on lines with a name of a locator, and on the next 14 lines."""
    names = re.findall(r"\w+_\w+|[a-z]+\d+", locator)
    rows = text.splitlines()
    places = [i for i, row in enumerate(rows) if any(name in row for name in names)]
    return {
        float(number)
        for i in places
        for row in rows[i : i + 15]
        for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", row)
    }


class TestSources:
    def test_figures_are_at_their_locator_in_the_source(self) -> None:
        """In the version of the source's title, for installed libraries."""
        looked_at = set()
        for sheet in load(ROOT).facts.values():
            for name, figure in sheet.figures.items():
                source = sheet.sources[figure.source]
                match = re.search(r"/blob/[^/]+/(?:src/)?(?P<path>(?P<library>\w+)/.+\.py)$", source.url)
                if match and match["library"] in LIBRARIES:
                    text = (next(files(match["library"])).parent.parent / match["path"]).read_text("utf-8")
                    assert version(match["library"]) in source.title, source.title
                    assert figure.value in near(text, source.locator), f"{sheet.id}.{name}"
                    looked_at.add(name)
        assert looked_at >= {"tf32_capability", "bf16_capability", "fp8_capability", "mx_block", "nvfp4_block"}
