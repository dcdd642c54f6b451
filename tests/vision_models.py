"""Small configurations of vision-language models, and the one of Qwen2.5-VL 7B."""

from typing import Any

QWEN_VL_7B: dict[str, Any] = {
    "model_type": "qwen2_5_vl",
    "image_token_id": 151655,
    "text_config": {
        "hidden_size": 3584,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "intermediate_size": 18944,
        "vocab_size": 152064,
    },
    "vision_config": {"hidden_size": 1280, "out_hidden_size": 3584, "depth": 32, "intermediate_size": 3420},
}
"""https://huggingface.co/Qwen/Qwen2.5-VL-7B-Instruct, whose files have 8,292,166,656 parameters."""
TEXT = {"hidden_size": 256, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1}
TEXT |= {"head_dim": 128, "intermediate_size": 256, "vocab_size": 512, "bos_token_id": 1, "eos_token_id": 2}
TOWER = {"hidden_size": 192, "intermediate_size": 384}
QWEN = {"depth": 2, "num_heads": 4, "out_hidden_size": 256}
SQUARE = TOWER | {"num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 224, "patch_size": 14}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64}


def model(kind: str, text: str, vision: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a small configuration of an architecture."""
    return {"model_type": kind, "text_config": TEXT | {"model_type": text}, "vision_config": vision, **more}


QWEN2 = {"embed_dim": 192, "hidden_size": 256, "depth": 2, "num_heads": 4, "mlp_ratio": 2}
WINDOWED, DEEP = TOWER | QWEN | {"fullatt_block_indexes": [1]}, TOWER | QWEN | {"deepstack_visual_indexes": [0]}
MODELS = {
    "qwen2_vl": model("qwen2_vl", "qwen2_vl_text", QWEN2, image_token_id=7),
    "qwen2_5_vl": model("qwen2_5_vl", "qwen2_5_vl_text", WINDOWED, image_token_id=7),
    "qwen3_vl": model("qwen3_vl", "qwen3_vl_text", DEEP, image_token_id=7),
    "qwen3_vl_moe": model("qwen3_vl_moe", "qwen3_vl_moe_text", DEEP, image_token_id=7),
    "llava": model("llava", "llama", SQUARE | {"model_type": "clip_vision_model"}, image_token_index=7),
    "gemma3": model(
        "gemma3",
        "gemma3_text",
        SQUARE | {"model_type": "siglip_vision_model"},
        image_token_index=7,
        mm_tokens_per_image=64,
    ),
}
MODELS["qwen3_vl_moe"]["text_config"] |= EXPERTS
TOKENS = {"qwen2_vl": 88, "qwen2_5_vl": 88, "qwen3_vl": 63, "qwen3_vl_moe": 63, "llava": 256, "gemma3": 64}
"""The tokens of an image of 300 x 220 pixels, or of 224 x 224 for the last two."""
