"""The form of the page on training plans: its data, its scripts and its style sheet.

``docs/assets/planner/`` computes the plan of ``headroom.plan`` in the browser. A browser test compares both.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final

from headroom.memory.architecture import Architecture
from headroom.memory.errors import EstimateError
from headroom.memory.estimate import recorded
from headroom.memory.fixed_costs import beside_tensors, fixed_costs
from headroom.memory.job import Job
from headroom.memory.layouts import Layout
from headroom.memory.weights import OUTSIDE
from headroom.planner.card import PCIE, PlannedCluster, planned_cluster
from headroom.planner.decoder import Decoder, decoder_of
from headroom.planner.recorded import read_constants
from headroom.planner.search import accuracy_of
from headroom.records.memory_coefficients import CoefficientTensor
from headroom.records.tree import Tree
from headroom.site.memory_tool.browser_data import Polynomials, cards, variant_numbers
from headroom.site.memory_tool.models import known_models
from headroom.site.site_data import SiteData

PAGE: Final = "tools/plan.md"
STYLE: Final = "assets/planner.css"
DATA: Final = "assets/planner-data.js"
OPTIMIZERS: Final = ("adamw_torch_fused", "adamw_bnb_8bit")
"""The optimizers that the form offers."""


def files(site: SiteData) -> dict[str, str]:
    """Return the generated script with the data of the form, by path; none without the page."""
    return {DATA: script(site.tree)} if _has_page(site) else {}


def scripts(site: SiteData) -> dict[str, tuple[str, ...]]:
    """Return the scripts of the page, by its path below docs/."""
    return {PAGE: (DATA, "assets/planner.js")} if _has_page(site) else {}


def script(tree: Tree) -> str:
    """Return a script that defines ``planData``."""
    return f"const planData={json.dumps(data(tree), separators=(',', ':'), ensure_ascii=False)}\n"


def data(tree: Tree) -> dict[str, Any]:
    """Return the models, the cards, the constants and the known errors as JSON values."""
    polynomials, models = Polynomials(), planned_models(tree)
    families = {each.coefficients.family: each for each, _ in models.values()}
    kinds = {"dense": False, "experts": True}
    return {
        "families": {name: _family(each) for name, each in families.items()},
        "models": {name: _model(tree, name, *each, polynomials) for name, each in models.items()},
        "polys": polynomials.texts,
        "cards": dict(_cards(tree)),
        "fixed": {"one": _fixed(Layout(), tree), "several": _fixed(Layout(strategy="ddp", data=2), tree)},
        "constants": asdict(read_constants(tree.root)),
        "accuracy": {name: asdict(accuracy_of(tree.root, experts=each)) for name, each in kinds.items()},
        "assumed": PCIE,
    }


def planned_models(tree: Tree) -> dict[str, tuple[Architecture, Decoder]]:
    """Return the recorded models that the planner knows, by the id of their shape, in the order of their titles."""
    found = {}
    for name, each in known_models(tree).items():
        try:
            recorded(each, Job(loss="chunked"))
            found[name] = each, decoder_of(each.config)
        except EstimateError:  # another kind of architecture, or not traced with this job
            continue
    return found


def _family(architecture: Architecture) -> dict[str, Any]:
    """Return the derived symbols, and the tensors of each kind of layer with their sizes as expressions."""
    weights = architecture.coefficients.weights
    return {
        "derived": dict(architecture.coefficients.derived),
        "weights": {group: list(_tensors(group, listed)) for group, listed in weights.items()},
    }


def _tensors(group: str, listed: tuple[CoefficientTensor, ...]) -> Iterator[list[Any]]:
    """Yield the shape, the kind and the number of each group of equal tensors."""
    for (shape, kind), count in Counter((each.shape, _kind(group, each)) for each in listed).items():
        yield [list(shape), kind, count]


def _kind(group: str, tensor: CoefficientTensor) -> str:
    """Return a tensor's kind; a linear layer of the size of the vocabulary is an embedding, as in ``base_tensors``."""
    return "embedding" if group == OUTSIDE and tensor.kind == "linear" and "V" in tensor.shape else tensor.kind


def _model(
    tree: Tree, name: str, architecture: Architecture, decoder: Decoder, polynomials: Polynomials
) -> dict[str, Any]:
    return {
        "title": tree.shapes[name].title,
        "family": architecture.coefficients.family,
        "tied": int(architecture.tied),
        "symbols": dict(architecture.symbols),
        "kinds": [[kind, len(list(same))] for kind, same in groupby(architecture.kinds)],
        "variants": [_variant(architecture, polynomials, checkpointing=each) for each in (False, True)],
        "decoder": asdict(decoder),
    }


def _variant(architecture: Architecture, polynomials: Polynomials, *, checkpointing: bool) -> dict[str, Any] | None:
    """Return the polynomials of full training in bf16; None if it was not traced."""
    try:
        _, memory, tied = recorded(architecture, Job(checkpointing=checkpointing))
    except EstimateError:
        return None
    return variant_numbers(memory, polynomials, tied=tied)


def _fixed(layout: Layout, tree: Tree) -> Mapping[str, float]:
    found = fixed_costs(0, layout, tree.root)
    return {"low": found.low, "high": found.high, "share": beside_tensors(layout.gpus, tree.root).share}


def _cards(tree: Tree) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each card with a recorded matmul rate, with its memory, rates and link."""
    for name, title, printed, usable in cards(tree):
        try:
            found = planned_cluster(name, 2, None, None, None, tree.root)
        except EstimateError:  # no rate of its matmuls, or no bandwidth of its memory, is recorded
            continue
        yield name, {"name": title, "printed": printed, "bytes": usable, **_speeds(found)}


def _speeds(found: PlannedCluster) -> dict[str, Any]:
    cluster = found.cluster
    speeds = {"rates": dict(cluster.rates), "bandwidth": cluster.memory, "link": cluster.link}
    return {**speeds, "assumed": int(bool(found.notes))}


def _has_page(site: SiteData) -> bool:
    return any(page.path == f"docs/{PAGE}" for page in site.pages)
