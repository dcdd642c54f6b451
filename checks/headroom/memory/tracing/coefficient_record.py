"""Trace all jobs of an architecture's probe, and collect its coefficients as they are stored."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any

from headroom.memory.families import PROBE, Family
from headroom.memory.layer_kinds import kinds_of
from headroom.memory.tracing.models import TraceSettings
from headroom.memory.tracing.probe import layers_of_probe, probe_config, probe_job, probe_values, products, variant_name
from headroom.memory.tracing.step import named_weights
from headroom.memory.tracing.symbols import Polynomial, SymbolTable, UnknownSizeError

PRECISIONS = ("bf16", "autocast", "mixed", "fp32")


def jobs(family: Family) -> Iterator[TraceSettings]:
    """Yield the jobs that a family's coefficients are traced for."""
    checkpointing = (False, True)
    first = family.attentions[0]
    for precision, attention, checkpointed in product(PRECISIONS, family.attentions, checkpointing):
        known = not (attention == "flash" and precision == "fp32") and not (attention != first and precision == "mixed")
        if known:
            yield TraceSettings("full", precision, attention, checkpointed)
    adapted = (
        ["lora-all", "lora-qv", "dora-all", "qlora-all"] if family.adapters else ["lora-all", "dora-all", "qlora-all"]
    )
    if family.attention_adapters:
        adapted += ["lora-attention", "qlora-attention", "qlora-qv"]
    for job, precision, checkpointed in product(adapted, ("bf16", "mixed"), checkpointing):
        yield TraceSettings(job, precision, first, checkpointed)
    inference = ["evaluate", *(["prefill", "decode"] if family.cached else [])]
    for job, precision in product(inference, ("bf16", "autocast", "fp32")):
        if not (first == "flash" and precision == "fp32") and not (job == "decode" and precision == "autocast"):
            yield TraceSettings(job, precision, first)


def _as_text(size: Polynomial) -> str:
    """Return a dimension as a formula: ``q+2*k``."""
    terms = (((f"{n}*" if n != 1 else "") + "*".join(m)) if m else str(n) for m, n in size.items())
    return "+".join(terms)


def _weights(family: Family) -> dict[str, list[dict[str, Any]]]:
    """Return the weights of each kind of layer and those outside, with their shapes in symbols.

    A tensor that only the first layers of a kind have (T5's relative positions) counts as outside.
    """
    values = probe_values(family)
    config = probe_config(family, values)
    kinds = kinds_of(family.rule, config.to_dict(), layers_of_probe(family))
    table = SymbolTable(values, family.sums, products(values))
    owned: dict[str, dict[str, dict[str, Any]]] = {}
    for region, name, shape, role in named_weights(config):
        tensor = {"name": name, "shape": [_as_text(table.size(n)) for n in shape], "kind": role}
        owned.setdefault(region, {})[name] = tensor
    last = {kind: f"layer {number}" for number, kind in enumerate(kinds)}
    out = {kind: list(owned[region].values()) for kind, region in last.items()}
    extra = [t for n, k in enumerate(kinds) for name, t in owned[f"layer {n}"].items() if name not in owned[last[k]]]
    return out | {"outside": [*owned["outside"].values(), *extra]}


def _differs(family: Family, settings: TraceSettings, tied: bool, ungrouped: bool) -> bool:
    """Return whether a job is traced for these embeddings and heads: where they change what it holds.

    A frozen matrix has no gradient that tied embeddings would share. Fused kernels in 16 bits take grouped heads as
    they are; eager attention and fp32 repeat the keys and values.
    """
    if tied != family.tied[0] and settings.job != "full":
        return False
    repeats = settings.attention == "eager" or settings.precision == "fp32"
    return not ungrouped or (family.ungrouped and repeats and settings.job != "decode")


def _traced(family: Family, settings: TraceSettings, tied: bool, ungrouped: bool) -> dict[str, Any]:
    """Return the coefficients of a job, with those of a chunked loss, or why a library refuses it."""
    try:
        record = probe_job(family, settings, ungrouped=ungrouped, tie_word_embeddings=tied)
        if family.cached and settings.job in ("full", "lora-all") and settings.attention == family.attentions[0]:
            chunked = replace(settings, loss_chunk=PROBE["K"])
            record["head_chunked"] = probe_job(family, chunked, ungrouped=ungrouped, tie_word_embeddings=tied)["head"]
    except UnknownSizeError:
        raise  # the probe's symbols are incomplete, which is no refusal
    except Exception as error:  # noqa: BLE001 - a library's refusal is recorded, whatever its type
        return {"refused": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
    return record


def variants(family: Family) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return the variants of a family by name, each as a function that traces it."""
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    for settings, tied, ungrouped in product(jobs(family), family.tied, (False, True)):
        if _differs(family, settings, tied, ungrouped):
            suffix = "" if tied == family.tied[0] else " tied" if tied else " untied"
            name = variant_name(settings) + suffix + (" ungrouped" if ungrouped else "")
            found[name] = partial(_traced, family, settings, tied, ungrouped)
    return found


def probe_family(family: Family, report: Callable[[str], None]) -> dict[str, Any]:
    """Return all coefficients of a family as they are stored."""
    traced = {}
    for name, trace_variant in variants(family).items():
        traced[name] = trace_variant()
        report(f"{family.name}: {name}: {traced[name].get('refused', 'traced')}")
    config = probe_config(family, probe_values(family))
    return {
        "family": family.name,
        "versions": {name: version(name) for name in ("torch", "transformers", "peft")},
        "symbols": {name: list(sources) for name, sources in family.symbols.items()},
        "derived": dict(family.derived),
        "assumes": assumptions(config),
        "dropouts": dropouts(config),
        "tied": family.tied[0],
        "kinds": list(dict.fromkeys(kinds_of(family.rule, config.to_dict(), layers_of_probe(family)))),
        "kind_rule": dict(family.rule),
        "weights": _weights(family),
        "variants": traced,
    }


def assumptions(config: Any) -> dict[str, Any]:
    """Return the switches of the probe that change which tensors a model has: true or false, and the activation."""
    switches = {name: value for name, value in config.to_dict().items() if isinstance(value, bool)}
    ignored = {
        "tie_word_embeddings",
        "use_cache",
        "output_attentions",
        "output_hidden_states",
        "return_dict",
        "is_decoder",
    }
    activation = {
        n: v for n, v in config.to_dict().items() if n in ("hidden_act", "activation_function", "hidden_activation")
    }
    return {n: v for n, v in switches.items() if n not in ignored and not n.startswith("_")} | activation


def dropouts(config: Any) -> dict[str, bool]:
    """Return the rates in a configuration that make dropout masks in a language model, and whether each is above 0."""
    ignored = {"classifier_dropout", "summary_first_dropout", "layerdrop"}
    rates = {name: rate for name, rate in config.to_dict().items() if "drop" in name and name not in ignored}
    return {name: rate > 0 for name, rate in rates.items() if isinstance(rate, float | int)}
