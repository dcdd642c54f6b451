# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "numpy"]
#
# [tool.headroom]
# models = ["mistralai/Voxtral-Mini-3B-2507"]
# ablation = { "math.ceil(frames / 3000) * 375" = "frames // 8" }
# ///
"""How many tokens of the language model a clip takes: Voxtral counts whole windows of 30 s, Qwen2-Audio drops what follows 30 s."""

import math
from unittest.mock import patch

import numpy as np
import torch
from transformers import (
    Qwen2AudioConfig,
    Qwen2AudioForConditionalGeneration,
    VoxtralForConditionalGeneration,
    WhisperFeatureExtractor,
)
from transformers.models.qwen2_5_omni.modeling_qwen2_5_omni import (
    Qwen2_5OmniAudioEncoder,
)
from transformers.models.qwen3_omni_moe import processing_qwen3_omni_moe

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:count]
# The encoder reads 100 frames per second of audio.
COUNT = {
    "Voxtral": lambda frames: math.ceil(frames / 3000) * 375,
    "Qwen2-Audio": lambda frames: (min(frames, 3000) + 1) // 4,
    "Qwen2.5-Omni": lambda frames: (frames + 1) // 4,
    "Qwen3-Omni": lambda frames: frames // 100 * 13 + math.ceil(frames % 100 / 8),
}
for name, tokens in COUNT.items():
    print(f"{name}: {tokens(500)} tokens for 5 s, {tokens(6000):,} for a minute")
# --8<-- [end:count]
lines = [call.args[0] for call in printed.call_args_list]

extractor = WhisperFeatureExtractor(feature_size=128)
checkpoint = "mistralai/Voxtral-Mini-3B-2507"
voxtral = VoxtralForConditionalGeneration.from_pretrained(
    checkpoint, dtype=torch.float32
)
size = voxtral.config.audio_config
small = {"d_model": 64, "encoder_layers": 1, "encoder_attention_heads": 4}
text = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
text |= {"num_key_value_heads": 2, "intermediate_size": 64, "vocab_size": 512}
config = Qwen2AudioConfig(
    audio_config={
        "model_type": "qwen2_audio_encoder",
        **small,
        "encoder_ffn_dim": 64,
    },
    text_config={"model_type": "qwen2", **text},
    audio_token_index=500,
)
qwen2 = Qwen2AudioForConditionalGeneration(config).eval()
omni = Qwen2_5OmniAudioEncoder._get_feat_extract_output_lengths  # noqa: SLF001


def from_models(length):
    """Return what the models' own code makes of a clip of so many frames."""
    clip = np.random.default_rng(0).normal(size=length * 160).astype("float32")
    options = {"sampling_rate": 16_000, "return_tensors": "pt"}
    # As Voxtral's processor: padded to a multiple of 30 s, cut into windows.
    whole = extractor(
        clip, padding=True, truncation=False, pad_to_multiple_of=480_000, **options
    )
    windows = whole["input_features"].reshape(128, -1, 3000).transpose(0, 1)
    with torch.no_grad():
        found = {"Voxtral": len(voxtral.get_audio_features(windows).pooler_output)}
    # As Qwen2-Audio's processor: one window, cut to 30 s.
    one = extractor(
        clip, padding="max_length", return_attention_mask=True, **options
    )
    frames = one["attention_mask"].sum(-1)
    tower = qwen2.model.audio_tower
    lengths = tower._get_feat_extract_output_lengths(frames)[1]  # noqa: SLF001
    found["Qwen2-Audio"] = int(lengths)
    # As the Omni models' processors: no window. Qwen2.5-Omni's cuts at its chunk_length.
    mask = extractor(
        clip, padding=True, truncation=False, return_attention_mask=True, **options
    )
    frames = mask["attention_mask"].sum(-1)
    found["Qwen2.5-Omni"] = int(omni(None, frames)[1])
    counted = processing_qwen3_omni_moe._get_feat_extract_output_lengths  # noqa: SLF001
    found["Qwen3-Omni"] = int(counted(frames, 50))
    return found


for length in (100, 107, 500, 731, 999, 3000, 3001, 6000, 9050):
    expected = {name: tokens(length) for name, tokens in COUNT.items()}
    assert (found := from_models(length)) == expected, (
        f"{length} frames: {found}, not {expected}"
    )
assert lines == [
    "Voxtral: 375 tokens for 5 s, 750 for a minute",
    "Qwen2-Audio: 125 tokens for 5 s, 750 for a minute",
    "Qwen2.5-Omni: 125 tokens for 5 s, 1,500 for a minute",
    "Qwen3-Omni: 65 tokens for 5 s, 780 for a minute",
], f"printed was {lines}"
