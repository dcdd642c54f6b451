"""Which kind of layer stands at each position of a model."""

from collections.abc import Mapping
from typing import Any


def kinds_of(rule: Mapping[str, str], config: Mapping[str, Any], layers: int) -> list[str]:
    """Return the kind of each layer in the order of the forward pass.

    Args:
        rule: empty for layers that are all alike; ``{"dense_first": FIELD}`` for a number of dense layers before those
            with experts; ``{"every": FIELD}`` where each nth layer differs; ``{"decoder": FIELD}`` for an encoder
            before a decoder of FIELD layers.
        config: the model's transformers configuration.
        layers: the number of layers, of the encoder if there is one.
    """
    if "dense_first" in rule:
        dense = int(config.get(rule["dense_first"]) or 0)
        return ["dense" if number < dense else "sparse" for number in range(layers)]
    if "every" in rule:
        every = int(config.get(rule["every"]) or 0)
        return ["nth" if every and (number + 1) % every == 0 else "layer" for number in range(layers)]
    if "decoder" in rule:
        decoder = int(config.get(rule["decoder"]) or layers)
        return ["encoder"] * layers + ["decoder"] * decoder
    return ["layer"] * layers
