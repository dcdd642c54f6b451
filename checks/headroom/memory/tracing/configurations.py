"""Make a transformers configuration of a known shape or of a local file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers

from headroom.memory.architecture import refuse_quantized
from headroom.records.model_shapes import read_shape


def configuration(model: str, root: Path) -> Any:
    """Return the transformers configuration of a shape of checks/facts/models, or of a local config.json or its folder.

    Raises:
        ValueError: there is no such shape, or transformers has no such architecture or refuses its fields.
    """
    path = Path(model)
    path = path / "config.json" if path.is_dir() else path
    fields = json.loads(path.read_text("utf-8")) if path.is_file() else dict(read_shape(model, root).config)
    return configuration_of(fields)


def configuration_of(fields: Mapping[str, Any]) -> Any:
    """Return the transformers configuration of the fields of a config.json.

    Raises:
        ValueError: transformers has no such architecture or refuses its fields, or the checkpoint is quantized.
    """
    refuse_quantized(fields)
    fields = dict(_decoded(fields))
    kind = fields.pop("model_type", None)
    if kind not in transformers.CONFIG_MAPPING:
        raise ValueError(f"model_type: transformers {transformers.__version__} has no {kind!r}")
    try:
        config = transformers.AutoConfig.for_model(kind, **fields)
    except Exception as error:  # a class of huggingface_hub for each kind of fault
        fault = " ".join(str(error).split())
        raise ValueError(f"config.json: transformers refuses this {kind} configuration: {fault}; correct it") from error
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = config.pad_token_id = 0  # shapes leave out the tokens
    return config


def _decoded(value: Any) -> Any:
    """Return a value with each ``{"__float__": "Infinity"}``, as transformers writes infinite floats, as that float."""
    if isinstance(value, Mapping):
        if value.keys() == {"__float__"} and value["__float__"] in ("Infinity", "-Infinity", "NaN"):
            return float(value["__float__"])
        return {name: _decoded(each) for name, each in value.items()}
    return [_decoded(each) for each in value] if isinstance(value, list) else value
