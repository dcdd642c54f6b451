"""What pages and records say of libraries, held to those that are installed: names, defaults, bounds, sources."""

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

import pytest

from headroom.io.python_source import parse_python
from headroom.pages.markdown_syntax import without_fences
from headroom.records import load
from worked_problems import ROOT, guide

GUIDE = "training/single-gpu.md"
LIBRARIES = ("transformers", "accelerate", "peft", "torch", "bitsandbytes", "torchao")
WORD = re.compile(r"[A-Za-z_]\w{3,}")
# Names of old, which the guide says are gone, and what stands in no Python file.
ELSEWHERE = {
    *("BetterTransformer", "adamw_apex_fused", "fp16_backend", "fp16_opt_level", "half_precision_backend"),
    *("jit_mode_eval", "use_ipex", "aot_nvfuser"),
    "max_split_size_mb",  # PyTorch's allocator is written in C++
    "adam_",  # of adam_beta1 and its kin
}

# In a process of its own: no other test is to find torch loaded.
ASK = """
import dataclasses, json
from transformers import TrainingArguments
values = {field.name: field.default for field in dataclasses.fields(TrainingArguments)}
names = ("adam_beta1", "adam_beta2", "learning_rate", "max_grad_norm", "average_tokens_across_devices", "optim")
print(json.dumps({name: getattr(values[name], "value", values[name]) for name in names}))
"""


def files(library: str) -> Iterator[Path]:
    """The Python files of an installed library."""
    found = importlib.util.find_spec(library)
    assert found, library
    assert found.origin, library
    yield from sorted(Path(found.origin).parent.rglob("*.py"))


class TestNames:
    @pytest.mark.slow
    def test_every_name_is_one_that_there_is(self) -> None:
        """What stands as code in the guide's sentences is in a script of ours or in a library's source."""
        prose = without_fences(guide(GUIDE))
        left = {name for code in re.findall(r"`([^`\n]+)`", prose) for name in WORD.findall(code)}
        ours = [path for folder in ("snippets", "checks/benchmarks") for path in (ROOT / folder).rglob("*.py")]
        for path in (*ours, *(each for library in LIBRARIES for each in files(library))):
            left.difference_update(WORD.findall(path.read_text("utf-8", errors="replace")))
            if left <= ELSEWHERE:
                break
        assert left == ELSEWHERE


class TestDefaults:
    @pytest.mark.slow
    def test_defaults_of_the_trainer(self) -> None:
        """Sentences of the guide that print a default of the Trainer's arguments."""
        printed = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True).stdout
        of = json.loads(printed.splitlines()[-1])
        text = " ".join(guide(GUIDE).split())
        for sentence in (
            f"it gets AdamW's betas, {of['adam_beta1']:g} and {of['adam_beta2']:g}.",
            f"so its {of['learning_rate']:.0e}".replace("e-0", "e-") + " is used as it stands",
            f"It also clips at `max_grad_norm={of['max_grad_norm']}`",
            f"`average_tokens_across_devices={of['average_tokens_across_devices']}`, the default",
            f'(`optim="{of["optim"]}"`, the Trainer\'s default)',
        ):
            assert sentence in text


class TestHeaders:
    """What a snippet says it needs."""

    def test_bounds_are_those_that_are_tried(self) -> None:
        """A library's lowest version is nowhere below the one of pyproject.toml."""
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        tried = dict(bound(each) for each in extras["snippets"])
        for snippet in load(ROOT).snippets.values():
            for name, low in map(bound, snippet.dependencies):
                assert low >= tried.get(name, low), f"{snippet.path}: {name}"

    def test_everything_that_is_imported_is_named(self) -> None:
        """A reader who runs a snippet alone gets what it imports."""
        for snippet in load(ROOT).snippets.values():
            named = {bound(each)[0].replace("-", "_") for each in snippet.dependencies}
            assert imported(snippet.source) - sys.stdlib_module_names <= named, snippet.path


def bound(requirement: str) -> tuple[str, tuple[int, ...]]:
    """A library's name and its lowest version."""
    name, _, low = requirement.partition(">=")
    return name, tuple(int(part) for part in low.partition(",")[0].split(".") if part)


def imported(source: str) -> set[str]:
    """The packages that a script imports."""
    found = set()
    for node in ast.walk(parse_python(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@cache
def version(library: str) -> str:
    """Major and minor version of what is installed."""
    return ".".join(importlib.metadata.version(library).split(".")[:2])


def near(text: str, locator: str) -> set[str]:
    """The numbers on the lines that hold a name of a locator, and on the next ones."""
    names = re.findall(r"\w+_\w+|[a-z]+\d+", locator)
    rows = text.splitlines()
    places = [i for i, row in enumerate(rows) if any(name in row for name in names)]
    return {number for i in places for row in rows[i : i + 15] for number in re.findall(r"\d+(?:\.\d+)?", row)}


class TestSources:
    def test_figures_stand_in_the_source_that_they_name(self) -> None:
        """A figure from an installed library stands where its locator says, in the version of its title."""
        looked_at = set()
        for sheet in load(ROOT).facts.values():
            for name, figure in sheet.figures.items():
                source = sheet.sources[figure.source]
                match = re.search(r"/blob/[^/]+/(?:src/)?(?P<path>(?P<library>\w+)/.+\.py)$", source.url)
                if match and match["library"] in LIBRARIES:
                    text = (next(files(match["library"])).parent.parent / match["path"]).read_text("utf-8")
                    assert version(match["library"]) in source.title, source.title
                    assert f"{figure.value:g}" in near(text, source.locator), f"{sheet.id}.{name}"
                    looked_at.add(name)
        assert looked_at >= {"tf32_capability", "bf16_capability", "fp8_capability", "mx_block", "nvfp4_block"}
