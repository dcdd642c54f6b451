# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai/whisper-large-v3"]
# ablation = { "* clips * beams" = "* clips" }
# ///
"""Whisper has two caches. The one of cross-attention holds 1,500 positions per clip and beam, whatever the clip's length, and is computed once. Counted during generation."""

import logging
from unittest.mock import patch

import torch
from transformers import (
    AutomaticSpeechRecognitionPipeline,
    AutoModelForSpeechSeq2Seq,
    WhisperFeatureExtractor,
)

# Whisper's own generate passes options in a way that transformers 5.23 deprecates.
logging.getLogger("transformers.generation.utils").addFilter(
    lambda record: "Passing `generation_config`" not in record.getMessage()
)

checkpoint = "openai/whisper-large-v3"
model = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.float32)
model.eval()
config = model.config

printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:count]
def cache_bytes(clips: int, tokens: int, beams: int = 1) -> tuple[int, int]:
    """Return the bytes of the cross-attention and self-attention caches in 16 bits."""
    position = config.decoder_layers * 2 * config.d_model * 2 * clips * beams
    return position * config.max_source_positions, position * tokens


for beams in (1, 5):
    cross, own = cache_bytes(clips=16, tokens=448, beams=beams)
    share = cross / cache_bytes(clips=16, tokens=448)[0]
    print(f"num_beams={beams}: {share:.0f} × the cross-attention cache of one")
# --8<-- [end:count]
shown = [call.args[0] for call in printed.call_args_list]

# The proof: two clips of different length, and what generation keeps of them.
extractor = WhisperFeatureExtractor(feature_size=config.num_mel_bins)
torch.manual_seed(0)
clips = [torch.randn(16_000 * seconds).numpy() for seconds in (1, 12)]
features = extractor(
    clips, sampling_rate=16_000, return_tensors="pt"
).input_features
assert features.shape == (2, 128, 3000), "a clip is not padded to 30 s"
projection = model.model.decoder.layers[0].encoder_attn.k_proj


def generate(beams: int, **options):
    """Return the caches and frames that a generation of four tokens meets, and how often it computes the keys of the audio."""
    seen = {"steps": 0, "keys": 0}

    def step(_, __, kwargs):
        seen["steps"] += 1
        seen["cache"] = kwargs["past_key_values"]
        seen["frames"] = kwargs["encoder_hidden_states"].shape[1]

    def keys(*_):
        seen["keys"] += 1

    handles = [
        model.model.decoder.register_forward_pre_hook(step, with_kwargs=True),
        projection.register_forward_hook(keys),
    ]
    model.generate(
        features,
        num_beams=beams,
        max_new_tokens=4,
        min_new_tokens=4,
        **options,
    )
    for handle in handles:
        handle.remove()
    return seen


def held(cache) -> int:
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)


for beams in (1, 5):
    seen = generate(beams)
    cross, own = cache_bytes(clips=2, tokens=4, beams=beams)
    assert seen["frames"] == 1500, seen["frames"]
    assert seen["steps"] == 4, (
        "the positive control: the decoder runs once per token"
    )
    assert seen["keys"] == 1, (
        f"the keys of the audio were computed {seen['keys']} times"
    )
    # fp32 here, 16 bits in the function
    assert held(seen["cache"].cross_attention_cache) == 2 * cross, f"{beams} beams"
    assert held(seen["cache"].self_attention_cache) == 2 * own, f"{beams} beams"

# The layers are the decoder's: large-v3-turbo has 4 of them, and 32 in its encoder.
with patch.object(config, "encoder_layers", 8 * config.decoder_layers):
    assert cache_bytes(clips=2, tokens=4, beams=5) == (cross, own), (
        "the encoder's layers are counted"
    )

# A static cache has all positions from the first step on.
static = generate(1, cache_implementation="static")["cache"]
assert type(static.self_attention_cache).__name__ == "StaticCache"
assert held(static.cross_attention_cache) == 2 * cache_bytes(2, 0)[0]

assert shown == [
    "num_beams=1: 1 × the cross-attention cache of one",
    "num_beams=5: 5 × the cross-attention cache of one",
], shown

# The page's defaults: five beams in the pipeline, one in generate.
defaults = AutomaticSpeechRecognitionPipeline._default_generation_config  # noqa: SLF001
assert defaults.num_beams == 5
assert model.generation_config.num_beams in {None, 1}

# Without padding, the model refuses the clip.
refusal = ""
try:
    model(
        features[..., :1200], decoder_input_ids=torch.zeros(2, 1, dtype=torch.long)
    )
except ValueError as error:
    refusal = str(error)
assert (
    "expects the mel input features to be of length 3000, but found 1200" in refusal
)
# A model in 16 bits refuses features in fp32, as the extractor returns them.
try:
    model.half().generate(features)
except RuntimeError as error:
    refusal = str(error)
assert "Input type (float) and bias type (c10::Half)" in refusal, refusal
