"""Estimate what vLLM reports when it starts, from a model's name, a card and flags."""

from pathlib import Path
from typing import Any

from headroom.memory.architecture import read_architecture
from headroom.memory.errors import EstimateError
from headroom.memory.sizes import card_bytes
from headroom.memory.vllm.log_errors import all_costs
from headroom.memory.vllm.settings import EngineSettings
from headroom.memory.vllm.startup import VllmEstimate, estimate_start, filled
from headroom.records.data_root import data_root


def vllm_estimate(model: Any, card: int | str, root: Path | str | None = None, **flags: Any) -> VllmEstimate:
    """Estimate what vLLM reports when it starts.

    Args:
        model: a model as ``headroom.estimate`` takes it.
        card: a name or a size such as ``RTX 4090`` or ``24GB``, or the bytes that CUDA reports. For a
            name with A100, the default batches are the smaller ones that vLLM takes there.
        root: the project's folder, with checks/facts/; by default, see ``data_root``.
        **flags: fields of ``EngineSettings``: ``tensor=2``, ``max_model_len=8192``.

    Raises:
        EstimateError: the model or the card is unknown, a flag is wrong, or the GPUs do not divide the model.
    """
    place = data_root(root)
    architecture = read_architecture(model, place)
    size = card_bytes(card, place) if isinstance(card, str) else card
    settings = filled(architecture, _settings(flags), size, a100="a100" in str(card).lower())
    return estimate_start(architecture, settings, size, all_costs(place))


def _settings(flags: dict[str, Any]) -> EngineSettings:
    try:
        return EngineSettings(**flags)
    except TypeError as error:
        known = ", ".join(EngineSettings.__dataclass_fields__)
        raise EstimateError("flag", str(error).rpartition(") ")[2], f"use one of {known}") from error
