"""The peak memory of common recipes for each model: the data of the forms on the start page and the method finder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import estimate_architecture
from headroom.memory.fixed_costs import beside_tensors, fixed_costs
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.memory.sizes import GIB
from headroom.records.tree import Tree
from headroom.site.memory_tool.browser_data import cards

MIB = 2**20
LENGTH = 2048


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to run a job: its name, what it adds, its method, and the settings that differ from the defaults."""

    name: str
    added: str
    method: str
    options: Mapping[str, Any]

    @property
    def address(self) -> str:
        """Return the state of the page with this recipe, as the part of an address after #."""
        words = {name: 1 if value is True else value for name, value in self.options.items()}
        return urlencode({"offload" if name == "layout" else name: value for name, value in words.items()})


def _with(name: str, added: str, method: str, **options: Any) -> list[Recipe]:
    """Return a recipe, and the same with gradient checkpointing."""
    both = f"{added}, gradient checkpointing".removeprefix(", ")
    return [Recipe(name, added, method, options), Recipe(name, both, method, {**options, "checkpointing": True})]


def _chunked(name: str, method: str, job: str) -> Recipe:
    added = "gradient checkpointing, chunked loss"
    return Recipe(name, added, method, {"job": job, "checkpointing": True, "loss": "chunked"})


def _quantized(added: str, form: str) -> Recipe:
    return Recipe("Inference", added, "quantized-weights", {"job": "inference", "quantization": form})


RECIPES = (
    *_with("Full, fp32 weights", "bf16 autocast, AdamW", "mixed-precision", job="full", precision="autocast"),
    *_with("Full, bf16 weights", "AdamW", "pure-bf16", job="full"),
    *_with("Full, bf16 weights", "8-bit AdamW", "eight-bit-adam", job="full", optimizer="adamw_bnb_8bit"),
    *_with("LoRA", "", "lora", job="lora"),
    _chunked("LoRA", "lora", "lora"),
    *_with("QLoRA", "", "qlora", job="qlora"),
    _chunked("QLoRA", "qlora", "qlora"),
    Recipe("Inference", "bf16", "", {"job": "inference"}),
    _quantized("8-bit weights (LLM.int8)", "int8"),
    _quantized("4-bit weights (NF4)", "nf4"),
    _quantized("4-bit checkpoint (AWQ, GPTQ)", "int4"),
)
"""The recipes, the one that changes training least first."""


def peak(architecture: Architecture, recipe: Recipe, tree: Tree, length: int = LENGTH) -> int | None:
    """Return the peak bytes of a recipe with one sequence, or None if it was not traced or a library refuses it."""
    kinds = ("prefill", "decode") if recipe.options["job"] == "inference" else (recipe.options["job"],)
    jobs = [Job(**{**recipe.options, "job": kind, "length": length}) for kind in kinds]
    try:
        return max(estimate_architecture(architecture, job, tree.root).peak for job in jobs)
    except EstimateError:
        return None


def needed(bytes_: int, tree: Tree) -> tuple[int, int]:
    """Return the least and the most bytes of a card that a process with this peak takes."""
    fixed = fixed_costs(bytes_, Layout(), tree.root)
    return bytes_ + fixed.low, bytes_ + fixed.high


def script(tree: Tree, models: Mapping[str, Architecture]) -> str:
    """Return a script that defines ``memoryRecipes``; peaks are in MiB."""
    return f"const memoryRecipes={json.dumps(data(tree, models), separators=(',', ':'), ensure_ascii=False)}\n"


def data(tree: Tree, models: Mapping[str, Architecture]) -> dict[str, Any]:
    """Return the recipes, the cards, the fixed costs, and the peaks of each model, as JSON values."""
    low, high = needed(0, tree)
    return {
        "length": LENGTH,
        "recipes": [
            [each.name, each.added, _section(each, tree).replace(".md", ".html"), each.address] for each in RECIPES
        ],
        "cards": [[*card[:3], card[3] / MIB] for card in cards(tree)],
        "fixed": [low / MIB, high / MIB, 1 + beside_tensors(1, tree.root).share],
        "models": [_model(tree, name, each) for name, each in models.items()],
    }


def _section(recipe: Recipe, tree: Tree) -> str:
    """Return the section of a recipe's method, or nothing if it has none."""
    method = tree.methods.get(recipe.method)
    return method.section if method else ""


def _model(tree: Tree, name: str, architecture: Architecture) -> list[Any]:
    found = [peak(architecture, each, tree) for each in RECIPES]
    shape = tree.shapes[name]
    return [name, shape.title, list(shape.names), [each and round(each / MIB, 1) for each in found]]


def gib(bytes_: int) -> str:
    """Return bytes in GiB with one decimal."""
    return f"{bytes_ / GIB:,.1f} GiB"
