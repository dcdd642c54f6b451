"""The architectures with coefficients: their symbols in a transformers configuration, and a probe of each.

A probe is a tiny model whose sizes are distinct primes times eight. The tracer reads from it which tensors a step
keeps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The probe's value of each symbol. Head sizes are multiples of eight, as flash attention wants them; a length is a
# multiple of 128, to which the memory-efficient kernel rounds its log-sum-exp. K is the length of a chunk of the loss.
PROBE = {
    "B": 29,
    "S": 7 * 128 * 31,
    "K": 128 * 31,
    "C": 128 * 109,
    "h": 8 * 59 * 23 * 19,  # some architectures refuse a hidden size that the heads do not divide
    "f": 8 * 53,
    "V": 8 * 127,
    "d": 8 * 17,
    "kv": 23,
    "g": 19,
    "r": 67,
    "E": 61,
    "e": 11,
    "m": 8 * 47,
    "n": 8 * 41,
    "P": 1000003,
    "ql": 8 * 71,
    "kl": 8 * 73,
    "dr": 8 * 7,
    "dn": 8 * 13,
    "dv": 8 * 37,
}


@dataclass(frozen=True, slots=True)
class Family:
    """An architecture: how its symbols follow from a configuration, and what its probe sets beside them."""

    name: str
    symbols: Mapping[str, tuple[str, ...]]
    """For each symbol the configuration fields it is read from, first one first; the last can be a formula."""
    derived: Mapping[str, str] = field(default_factory=lambda: {"g": "a/kv", "q": "a*d", "k": "kv*d"})
    probe: Mapping[str, Any] = field(default_factory=dict)
    """Configuration fields of the probe: a number, a formula of symbols, or any other value."""
    sums: tuple[Mapping[str, int], ...] = ()
    """Sums of symbols that are the size of one dimension, such as that of a fused query, key and value projection."""
    rule: Mapping[str, str] = field(default_factory=dict)
    """Which kind of layer stands where, see headroom.memory.layer_kinds."""
    attentions: tuple[str, ...] = ("sdpa", "eager")
    adapters: bool = True
    """Whether LoRA on the attention's query and value projections is traced."""
    attention_adapters: bool = False
    """Whether LoRA and QLoRA on all projections of the attention, and QLoRA on queries and values, are traced."""
    tied: tuple[bool, ...] = (False,)
    """Whether the LM head shares the embedding's weight: in all models of the family, in none, or in some of them."""
    ungrouped: bool = False
    """Whether some models of the family have as many key-value heads as heads."""
    cached: bool = True
    """Whether the model generates with a cache of keys and values."""


_H = {"h": ("hidden_size",), "V": ("vocab_size",), "L": ("num_hidden_layers",)}
_GQA = {
    **_H,
    "f": ("intermediate_size",),
    "a": ("num_attention_heads",),
    "kv": ("num_key_value_heads", "a"),
    "d": ("head_dim", "h/a"),
}
_KV = {**_GQA, "kv": ("num_key_value_heads",)}
"""For families whose class has a number of its own for a missing field: the field must be given."""
_KV_AND_SIZE = {**_KV, "d": ("head_dim",)}
_QKV = ({"q": 1, "k": 2}, {"q": 1, "k": 1})


def _llama_like(name: str, symbols: Mapping[str, tuple[str, ...]] = _GQA, **more: Any) -> Family:
    return Family(name, symbols, **more)


_MULTI_HEAD = {**_H, "f": ("intermediate_size",), "a": ("num_attention_heads",), "d": ("h/a",)}
_EXPERTS = {**_GQA, "e": ("num_experts_per_tok",)}
_EXPERTS_KV = {**_KV, "e": ("num_experts_per_tok",)}

FAMILIES = {
    family.name: family
    for family in (
        _llama_like("llama", tied=(False, True), ungrouped=True, attention_adapters=True),
        _llama_like("mistral", _KV, attention_adapters=True, probe={"sliding_window": None}),
        _llama_like("qwen2", _KV, tied=(False, True)),
        _llama_like("qwen3", _KV_AND_SIZE, tied=(False, True)),
        _llama_like("olmo2", ungrouped=True),
        _llama_like("granite", tied=(True, False)),
        _llama_like(
            "smollm3", _KV, tied=(True,), rule={"every": "no_rope_layer_interval"}, probe={"no_rope_layer_interval": 3}
        ),
        _llama_like("cohere", tied=(True,), ungrouped=True),
        _llama_like("starcoder2", _KV, tied=(True,), probe={"sliding_window": None}),
        _llama_like(
            "gemma2", _KV_AND_SIZE, attentions=("flash", "eager"), tied=(True,), probe={"sliding_window": 10**7}
        ),
        _llama_like("gemma3_text", _KV_AND_SIZE, tied=(True,), probe={"sliding_window": 10**7}),
        _llama_like("phi3", ungrouped=True, sums=_QKV, adapters=False, probe={"sliding_window": None}),
        Family(
            "mixtral",
            {**_EXPERTS_KV, "E": ("num_local_experts",)},
            sums=_QKV,
            attention_adapters=True,
            probe={"sliding_window": None},
        ),
        Family("qwen3_moe", {**_EXPERTS_KV, "E": ("num_experts",), "m": ("moe_intermediate_size",)}, sums=_QKV),
        Family(
            "gpt_oss",
            {**_EXPERTS_KV, "d": ("head_dim",), "E": ("num_local_experts",)},
            sums=_QKV,
            attentions=("flash", "eager"),
            probe={"sliding_window": 10**7},
        ),
        Family("olmoe", {**_EXPERTS, "E": ("num_experts",), "d": ("h/a",)}, sums=_QKV, ungrouped=True),
        Family(
            "gpt2",
            {
                "h": ("n_embd",),
                "V": ("vocab_size",),
                "L": ("n_layer",),
                "a": ("n_head",),
                "f": ("n_inner", "4*h"),
                "P": ("n_positions",),
            },
            derived={"d": "h/a"},
            tied=(True,),
            adapters=False,
        ),
        Family("gpt_neox", {**_MULTI_HEAD}, derived={}, adapters=False),
        Family(
            "opt",
            {
                "h": ("hidden_size",),
                "V": ("vocab_size",),
                "L": ("num_hidden_layers",),
                "f": ("ffn_dim",),
                "a": ("num_attention_heads",),
                "d": ("h/a",),
                "P": ("max_position_embeddings",),
            },
            derived={},
            sums=({"P": 1, "": 2},),
            tied=(True,),
            probe={"word_embed_proj_dim": "=h"},
        ),
        Family(
            "bert",
            {**_MULTI_HEAD, "P": ("max_position_embeddings",)},
            derived={},
            tied=(True,),
            adapters=False,
            cached=False,
        ),
        Family(
            "roberta",
            {**_MULTI_HEAD, "P": ("max_position_embeddings",)},
            derived={},
            tied=(True,),
            probe={"pad_token_id": 1},
            adapters=False,
            cached=False,
        ),
        Family(
            "t5",
            {
                "h": ("d_model",),
                "V": ("vocab_size",),
                "L": ("num_layers",),
                "a": ("num_heads",),
                "d": ("d_kv",),
                "f": ("d_ff",),
            },
            derived={"q": "a*d"},
            rule={"decoder": "num_decoder_layers"},
            probe={"num_decoder_layers": 6, "decoder_start_token_id": 0, "pad_token_id": 0},
            sums=({"": 32}, {"S": 1, "": -1}),
            tied=(True, False),
            adapters=False,
            cached=False,
        ),
        Family(
            "deepseek_v3",
            {
                **_H,
                "f": ("intermediate_size",),
                "a": ("num_attention_heads",),
                "E": ("n_routed_experts",),
                "e": ("num_experts_per_tok",),
                "m": ("moe_intermediate_size",),
                "ql": ("q_lora_rank",),
                "kl": ("kv_lora_rank",),
                "dr": ("qk_rope_head_dim",),
                "dn": ("qk_nope_head_dim",),
                "dv": ("v_head_dim",),
            },
            derived={},
            sums=({"dn": 1, "dr": 1}, {"dn": 1, "dv": 1}, {"kl": 1, "dr": 1}),
            rule={"dense_first": "first_k_dense_replace"},
            probe={
                "first_k_dense_replace": 3,
                "n_group": 1,
                "topk_group": 1,
                "n_shared_experts": 1,
                "num_key_value_heads": "=a",
            },
            adapters=False,
        ),
    )
}
