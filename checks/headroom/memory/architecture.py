"""Read a model's configuration, and find the values of the symbols in its family's memory polynomials."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headroom.io.safe_read import MAX_TEXT_BYTES, UnreadableError, read_text
from headroom.io.strict_load import load_json
from headroom.maths.expressions import parse
from headroom.memory.coefficients import FOLDER, read_coefficients
from headroom.memory.errors import EstimateError, whole
from headroom.memory.layer_kinds import kinds_of
from headroom.memory.polynomials import whole as whole_value
from headroom.records.memory_coefficients import MemoryCoefficients

MOST_LAYERS = 10_000


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model's shape.

    Attributes:
        name: the model's name, or its ``model_type``.
        config: the fields of its configuration.
        coefficients: the memory polynomials of its family.
        symbols: the value of each symbol of the polynomials, except the derived ones and those of the job.
        kinds: the kind of each layer, in order.
    """

    name: str
    config: Mapping[str, Any] = field(repr=False)
    coefficients: MemoryCoefficients = field(repr=False)
    symbols: Mapping[str, int]
    kinds: tuple[str, ...] = field(repr=False)

    @property
    def tied(self) -> bool:
        """Return whether the LM head is the embedding."""
        given = self.config.get("tie_word_embeddings")
        return self.coefficients.tied if given is None else given is True

    @property
    def grouped(self) -> bool:
        """Return whether the model has fewer key-value heads than heads."""
        return self.symbols.get("kv", self.symbols["a"]) < self.symbols["a"]

    def with_derived(self, symbols: Mapping[str, int]) -> dict[str, int]:
        """Return symbols with the derived ones, such as ``q = a*d``."""
        found = dict(symbols)
        for name, expression in self.coefficients.derived.items():
            if name not in found:
                found[name] = whole_value(expression, found)
        return found


def read_architecture(model: Any, root: Path) -> Architecture:
    """Return the shape of a model.

    Args:
        model: the name of a recorded shape or a hub name, a folder with config.json, the path of a config.json, a
            dictionary, or an object with ``to_dict``.
        root: the project's folder.

    Raises:
        EstimateError: there is no such model, its family has no coefficients, or a field is missing or impossible.
    """
    name, config = read_config(model, root)
    family = config.get("model_type")
    if not isinstance(family, str):
        raise EstimateError("model_type", f"is {family!r}", "give the configuration of a transformers model")
    _refuse_parts(family, config, root)
    return configured_architecture(name or family, config, read_coefficients(family, root))


def _refuse_parts(family: str, config: Mapping[str, Any], root: Path) -> None:
    """Refuse a model of several parts with the advice to estimate its language model, if that was traced."""
    inner = config.get("text_config")
    inside = inner.get("model_type") if isinstance(inner, Mapping) else None
    if isinstance(inside, str) and (root / FOLDER / f"{Path(inside).name}.json").is_file():
        fault = f"`{family}` has parts beside its language model, whose memory is not modelled"
        remedy = "give its text_config as a config.json to estimate the rest, or run `headroom trace MODEL --job …`"
        raise EstimateError("model_type", fault, remedy)


def configured_architecture(name: str, config: Mapping[str, Any], coefficients: MemoryCoefficients) -> Architecture:
    """Return the shape of a model of a family whose coefficients are known.

    Raises:
        EstimateError: a field of the configuration is missing or impossible, or has another value than the traced one.
    """
    _check_assumptions(config, coefficients)
    symbols = _symbols(config, coefficients)
    if symbols["a"] % symbols.get("kv", 1):
        fault = f"is {symbols['kv']} with {symbols['a']} heads"
        raise EstimateError(_field(coefficients, "kv"), fault, "give a divisor of the number of heads")
    if symbols.get("e", 0) > symbols.get("E", symbols.get("e", 0)):
        fault = f"is {symbols['e']} with {symbols['E']} experts"
        raise EstimateError(_field(coefficients, "e"), fault, "give at most the number of experts")
    return Architecture(name, config, coefficients, symbols, _kinds(config, coefficients, symbols))


def read_config(model: Any, root: Path) -> tuple[str, dict[str, Any]]:
    """Return a model's name and configuration; the arguments and errors are those of ``read_architecture``."""
    if hasattr(model, "to_dict"):
        model = model.to_dict()
    if isinstance(model, Mapping):
        return str(model.get("_name_or_path") or ""), dict(model)
    if not isinstance(model, str | Path) or not str(model):
        raise EstimateError("model", f"is {model!r}", "give a name, a path, a dictionary or a transformers config")
    path = Path(model).expanduser()
    if path.is_dir() or path.is_file():
        return (path.name if path.is_dir() else path.parent.name), _read_file(path)
    if path.suffix == ".json":
        raise EstimateError("model", f"`{model}` is no file", "give the path of a config.json")
    return _read_shape(str(model), root)


def _read_file(path: Path) -> dict[str, Any]:
    place = (path / "config.json" if path.is_dir() else path).resolve()
    try:
        config = load_json(read_text(place, place.parent, limit=MAX_TEXT_BYTES), finite=False).value
    except UnreadableError as error:
        raise EstimateError("model", f"{place.name}: {error.message}", error.remedy) from error
    if not isinstance(config, dict):
        raise EstimateError("model", f"{place.name} is no JSON object", "give the config.json of a transformers model")
    return config


def _read_shape(name: str, root: Path) -> tuple[str, dict[str, Any]]:
    from headroom.records.model_shapes import read_shape  # noqa: PLC0415 - needed for a name only

    try:
        shape = read_shape(name, root)
    except (LookupError, ValueError) as error:
        raise EstimateError(
            "model", str(error.args[0]).removeprefix("model: "), "or give the path of its config.json"
        ) from error
    return shape.title, dict(shape.config)


def _symbols(config: Mapping[str, Any], coefficients: MemoryCoefficients) -> dict[str, int]:
    """Return the value of each symbol: its first field that is present, or an expression of other symbols."""
    found: dict[str, int] = {}
    waiting = dict(coefficients.symbols)
    while waiting:
        ready = {name: value for name, given in waiting.items() if (value := _symbol(given, config, found)) is not None}
        if not ready:
            given = next(iter(waiting.values()))
            raise EstimateError(given[0], "is missing from the configuration", "give a positive whole number")
        found |= ready
        waiting = {name: given for name, given in waiting.items() if name not in ready}
    if "d" in coefficients.derived:  # the head size stays whole where the heads are divided over GPUs
        found["d"] = _expression("num_attention_heads", coefficients.derived["d"], found)
    return found


def _symbol(given: tuple[str, ...], config: Mapping[str, Any], found: Mapping[str, int]) -> int | None:
    for each in given:
        if config.get(each) is not None:
            return whole(each, config[each])
        names = parse(each, capitals=True).names
        if names <= found.keys():
            return _expression(given[0], each, found)
    return None


def _expression(field_name: str, expression: str, found: Mapping[str, int]) -> int:
    try:
        return whole_value(expression, found)
    except ValueError as error:
        raise EstimateError(field_name, str(error), "give sizes that divide each other") from error


def _field(coefficients: MemoryCoefficients, symbol: str) -> str:
    """Return the configuration field that gives a symbol's value."""
    return coefficients.symbols[symbol][0]


def _kinds(config: Mapping[str, Any], coefficients: MemoryCoefficients, symbols: Mapping[str, int]) -> tuple[str, ...]:
    """Return the kind of each layer by the family's rule."""
    layers = whole("num_hidden_layers", symbols["L"], most=MOST_LAYERS)
    for name in coefficients.kind_rule.values():
        if config.get(name) is not None:
            whole(name, config[name], least=0, most=MOST_LAYERS)
    return tuple(kinds_of(coefficients.kind_rule, config, layers))


def refuse_quantized(config: Mapping[str, Any]) -> None:
    """Refuse the configuration of a checkpoint whose weights are stored quantized: their bytes have no formula here.

    Raises:
        EstimateError: the configuration has a ``quantization_config``.
    """
    if stored := config.get("quantization_config"):
        method = stored.get("quant_method") if isinstance(stored, Mapping) else stored
        remedy = "remove it, and name the format of the weights with `quantization` (inference), or take `qlora` (NF4)"
        raise EstimateError("quantization_config", f"has the method {method!r}, which is not modelled", remedy)


def _check_assumptions(config: Mapping[str, Any], coefficients: MemoryCoefficients) -> None:
    """Check that the configuration has no switch that was traced with another value only."""
    refuse_quantized(config)
    heads = [each for each in coefficients.weights.get("outside", ()) if each.kind == "head"]
    if config.get("tie_word_embeddings") is False and coefficients.tied and not heads:
        raise EstimateError("tie_word_embeddings", "is False, and only True was traced", "trace this model")
    for name, traced in coefficients.assumes.items():
        if config.get(name) not in (None, traced):
            raise EstimateError(name, f"is {config[name]!r}, and only {traced!r} was traced", "trace this model")
