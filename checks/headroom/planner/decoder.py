"""The sizes of a decoder, and the operations and bytes that they imply per token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headroom.memory.errors import EstimateError

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "olmo2", "granite", "smollm3", "mixtral", "qwen3_moe", "gpt_oss")
"""The values of ``model_type`` whose layers are those of ``Decoder``."""
_FIELDS = {
    "hidden": ("hidden_size",),
    "layers": ("num_hidden_layers",),
    "heads": ("num_attention_heads",),
    "vocabulary": ("vocab_size",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """A decoder of equal layers.

    Attributes:
        hidden: the hidden size.
        layers: the number of layers.
        heads: the attention heads.
        key_value_heads: the heads of keys and values.
        head: elements per head.
        intermediate: the intermediate size of the MLP or of one expert.
        mlp_matmuls: 3 for an MLP with a gate, else 2.
        vocabulary: the number of tokens in the vocabulary.
        experts: the experts per layer; 1 for a dense MLP.
        active: the experts that work on a token.
    """

    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    head: int
    intermediate: int
    mlp_matmuls: int
    vocabulary: int
    experts: int = 1
    active: int = 1

    @property
    def attention_parameters(self) -> int:
        """Return the parameters of one layer's attention."""
        return 2 * self.hidden * self.head * (self.heads + self.key_value_heads)

    @property
    def expert_parameters(self) -> int:
        """Return the parameters of one MLP, or of one expert."""
        return self.mlp_matmuls * self.hidden * self.intermediate

    @property
    def active_parameters(self) -> int:
        """Return the parameters of one layer that work on a token."""
        return self.attention_parameters + self.active * self.expert_parameters

    @property
    def layer_parameters(self) -> int:
        """Return the parameters of one layer."""
        return self.attention_parameters + self.experts * self.expert_parameters

    @property
    def parameters(self) -> int:
        """Return the parameters of the layers, the embedding and the LM head, without norms and biases."""
        return self.layers * self.layer_parameters + 2 * self.hidden * self.vocabulary

    def score_flops(self, length: int) -> int:
        """Return one layer's FLOPs per token of the two matmuls of causal attention, which see half of the sequence."""
        return 2 * self.heads * self.head * length

    def model_flops(self, length: int) -> int:
        """Return the FLOPs per token of forward and backward, without recomputation."""
        layers = self.layers * (2 * self.active_parameters + self.score_flops(length))
        return 3 * (layers + 2 * self.hidden * self.vocabulary)


def decoder_of(config: Mapping[str, Any]) -> Decoder:
    """Return the sizes in a transformers configuration.

    Raises:
        EstimateError: the planner does not know the architecture, or a field is missing.
    """
    family = config.get("model_type")
    if family not in FAMILIES:
        raise EstimateError("model", f"has the architecture {family}", f"use a model of {', '.join(FAMILIES)}")
    sizes = {name: _field(config, name, fields) for name, fields in _FIELDS.items()}
    experts = config.get("num_experts") or config.get("num_local_experts") or 1
    return Decoder(
        **sizes,
        key_value_heads=config.get("num_key_value_heads") or sizes["heads"],
        head=config.get("head_dim") or sizes["hidden"] // sizes["heads"],
        intermediate=config.get("moe_intermediate_size") or _field(config, "intermediate", ("intermediate_size",)),
        mlp_matmuls=3,
        experts=experts,
        active=config.get("num_experts_per_tok", 1) if experts > 1 else 1,
    )


def _field(config: Mapping[str, Any], name: str, fields: tuple[str, ...]) -> int:
    for field in fields:
        if isinstance(config.get(field), int):
            return int(config[field])
    raise EstimateError("model", f"has no {name}", f"add {fields[0]} to its configuration")
