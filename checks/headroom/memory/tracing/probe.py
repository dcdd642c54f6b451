"""Trace one job of an architecture's probe, and read the sizes of its storages as polynomials."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import transformers

from headroom.memory.families import PROBE, Family
from headroom.memory.layer_kinds import kinds_of
from headroom.memory.polynomials import whole
from headroom.memory.tracing.composition import Composition
from headroom.memory.tracing.models import TraceSettings
from headroom.memory.tracing.step import trace_log
from headroom.memory.tracing.symbols import Monomial, Polynomial, SymbolTable
from headroom.memory.tracing.tape import Tape, add, as_json


def layers_of_probe(family: Family) -> int:
    """Return how many layers a probe has: one of each kind between a first and a last one."""
    return 6 if family.rule else 3


def probe_values(family: Family, *, ungrouped: bool = False) -> dict[str, int]:
    """Return the value of each symbol of a family's probe; ungrouped, it has as many key-value heads as heads."""
    values = {name: PROBE[name] for name in ("B", "S", *family.symbols) if name in PROBE}
    values["a"] = PROBE["kv"] * PROBE["g"]
    if ungrouped:
        values["kv"] = values["a"]
    if "d" in family.derived or family.symbols.get("d", ("",))[0] == "h/a":
        values["d"] = PROBE["d"]
        values["h"] = values["a"] * values["d"]
    for name, formula in family.derived.items():
        values[name] = whole(formula, values)
    values.pop("L", None)
    if ungrouped:
        del values["g"], values["kv"], values["k"]
    return values


def _chosen(value: Any, values: Mapping[str, int]) -> Any:
    """Return a field that the family sets, where ``=a`` stands for the symbol a."""
    return values[value[1:]] if isinstance(value, str) and value.startswith("=") else value


def probe_config(family: Family, values: Mapping[str, int], **more: Any) -> Any:
    """Return the transformers configuration of a family's probe, with fields of the caller's own."""
    fields: dict[str, Any] = {
        sources[0]: values[name]
        for name, sources in family.symbols.items()
        if sources[0].isidentifier() and name in values
    }
    fields[family.symbols["L"][0]] = layers_of_probe(family)
    none = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None, "tie_word_embeddings": family.tied[0]}
    chosen = {name: _chosen(value, values) for name, value in family.probe.items()}
    fields |= none | chosen | more
    return transformers.AutoConfig.for_model(family.name, **fields)


def products(values: Mapping[str, int]) -> dict[Monomial, str]:
    """Return the products of symbols that have a symbol of their own: all heads, and the size of queries and keys."""
    known = {("g", "kv"): "a", ("a", "d"): "q", ("d", "kv"): "k"}
    return {parts: name for parts, name in known.items() if name in values and {*parts} <= values.keys()}


def _sums(family: Family, *, ungrouped: bool) -> list[dict[str, int]]:
    """Return the sums that are sizes of the probe's layers; keys are as wide as queries where heads are not grouped."""
    named = {"k": "q"} if ungrouped else {}
    found: list[dict[str, int]] = []
    for terms in family.sums:
        total: Counter[str] = Counter()
        for symbol, count in terms.items():
            total[named.get(symbol, symbol)] += count
        found.append(dict(total))
    return found


def extra_symbols(settings: TraceSettings) -> dict[str, int]:
    """Return the symbols that only some jobs have: the adapters' rank, the cache's length, the loss's chunk."""
    wanted = {"r": bool(settings.job.partition("-")[2]), "C": settings.job == "decode", "K": bool(settings.loss_chunk)}
    return {symbol: PROBE[symbol] for symbol, present in wanted.items() if present}


def trained(info: Mapping[str, Any], kinds: list[str], table: SymbolTable) -> dict[str, dict[str, int]]:
    """Return the trainable elements by kind of layer and outside of the layers."""
    sums: dict[str, list[Polynomial]] = {}
    typical = {f"layer {n}": kind for n, kind in enumerate(kinds)}
    last = {kind: region for region, kind in typical.items()} | {"outside": "outside"}
    for region, _, shape, _, requires_grad in info["weights"]:
        kind = typical.get(region, region)
        if requires_grad and last[kind] == region:
            sums.setdefault(kind, []).append(table.storage(shape, 1, prod(shape)))
    return {kind: as_json(add(parts)) for kind, parts in sums.items()}


def variant_name(settings: TraceSettings) -> str:
    """Return the key of a job's coefficients: precision, attention, job and whether layers are checkpointed."""
    name = f"{settings.precision} {settings.attention} {settings.job}"
    return f"{name} checkpointed" if settings.checkpointed else name


def probe_job(family: Family, settings: TraceSettings, *, ungrouped: bool = False, **fields: Any) -> dict[str, Any]:
    """Return the coefficients of one job of a family, and the elements that it trains in each kind of layer.

    Args:
        family: the architecture.
        settings: the job; its sizes are set to those of the probe.
        ungrouped: whether the probe has as many key-value heads as heads.
        fields: fields of the configuration that differ from the probe's.
    """
    values = probe_values(family, ungrouped=ungrouped)
    heads = {family.symbols["kv"][0]: values["a"]} if ungrouped else {}
    config = probe_config(family, values, **heads, **fields)
    kinds = kinds_of(family.rule, config.to_dict(), layers_of_probe(family))
    sizes: dict[str, Any] = {
        "batch": values["B"],
        "length": values["S"],
        "context": PROBE["C"],
        "rank": PROBE["r"],
        "accumulation": 2,
    }
    settings = replace(settings, **(sizes if settings.trains else sizes | {"accumulation": 1}))
    table = SymbolTable(values | extra_symbols(settings), _sums(family, ungrouped=ungrouped), products(values))
    log, info = trace_log(config, settings, update=False)
    record = Composition(Tape(log, table), kinds, settings.trains).record()
    return record | ({"trainable": trained(info, kinds, table)} if settings.trains else {})
