# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["openai/whisper-large-v3"]
# ablation = { "truncation=False" = "truncation=True" }
# ///
"""Recordings of different length are transcribed in one batch, window after window: each gets the text that it gets alone, with fewer passes of the encoder."""

import logging

import torch
from transformers import AutoModelForSpeechSeq2Seq, WhisperFeatureExtractor

# Whisper's own generate passes options in a way that transformers 5.23 deprecates.
logging.getLogger("transformers.generation.utils").addFilter(
    lambda record: "Passing `generation_config`" not in record.getMessage()
)

checkpoint = "openai/whisper-large-v3"
model = AutoModelForSpeechSeq2Seq.from_pretrained(checkpoint, dtype=torch.float32)
extractor = WhisperFeatureExtractor(feature_size=model.config.num_mel_bins)
model.eval()
# What the generation_config.json of the checkpoint says, which the tests' small model lacks.
model.generation_config.no_timestamps_token_id = 50364
model.generation_config.max_initial_timestamp_index = 50
model.generation_config.max_length = 8

torch.manual_seed(0)
seconds = (20, 45)
recordings = [torch.randn(16_000 * each).numpy() for each in seconds]


def transcribe(recordings):
    # --8<-- [start:enable]
    inputs = extractor(
        recordings,
        sampling_rate=16_000,
        truncation=False,  # the default cuts after 30 s
        padding="longest",  # the default pads to 30 s
        return_attention_mask=True,  # where each recording ends
        return_tensors="pt",
    )
    found = model.generate(
        **inputs.to(model.device, model.dtype),
        return_timestamps=True,
        return_segments=True,
    )
    # --8<-- [end:enable]
    return found["segments"]


# The proof: both recordings get the segments that they get alone, and windows of both share a pass of the encoder.
windows = []
model.model.encoder.register_forward_hook(
    lambda _, args, output: windows.append(len(output.last_hidden_state))
)


def counted(recordings):
    """Return the segments' times and tokens, and how many windows each pass of the encoder has."""
    windows.clear()
    segments = transcribe(recordings)
    return [
        [(round(float(s["start"]), 2), s["tokens"].tolist()) for s in each]
        for each in segments
    ], list(windows)


together, batched = counted(recordings)
alone, single = [], []
for recording in recordings:
    segments, passes = counted([recording])
    alone += segments
    single.append(passes)
print(f"alone: {[len(each) for each in single]} windows, one per pass")
print(f"in a batch: {batched} windows per pass")
assert all(passes == [1] * len(passes) for passes in single)
assert len(single[1]) > 1, "the recording is cut after 30 s"
assert len(single[0]) < len(single[1]), "the positive control: lengths differ"
assert [len(each) for each in together] == [len(each) for each in alone]
assert together == alone, "the batch changes a text"
longest = max(len(passes) for passes in single)
assert len(batched) == longest < sum(len(passes) for passes in single)
assert (batched[0], batched[-1]) == (2, 1), "a finished recording leaves the batch"


# Its errors: without the mask, and without timestamps.
def refused(**changed) -> str:
    cut = False
    inputs = extractor(
        recordings,
        sampling_rate=16_000,
        truncation=cut,
        padding="longest",
        return_tensors="pt",
    )
    try:
        model.generate(inputs.input_features, **changed)
    except ValueError as error:
        return str(error)
    return ""


assert "make sure to pass an `attention_mask`" in refused()
assert "more than 3000 mel input features" in refused(return_timestamps=False)

# A model in 16 bits gets features of its type, which the extractor does not return.
model.to(torch.bfloat16)
assert transcribe(recordings[:1])[0], "no segment in bf16"
