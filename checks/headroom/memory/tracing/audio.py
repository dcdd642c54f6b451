"""Make the audio of a traced batch: the mel features of clips that are padded to the length of Whisper's encoder."""

from typing import Any

import torch

from headroom.memory.tracing.models import TraceSettings

_STRIDES = 2
"""Frames of a feature per position of the encoder: the strides of its two convolutions."""


def mel_features(config: Any, settings: TraceSettings) -> torch.Tensor:
    """Return features of as many frames as Whisper's encoder takes, 30 s, for each sequence.

    Raises:
        ValueError: the job needs a batch of tokens alone.
    """
    if settings.job == "decode" or settings.loss_chunk:
        fault = "whisper: a decode step and a chunked loss are not traced"
        raise ValueError(f"{fault}; trace another job, or run a step on a GPU")
    frames = _STRIDES * config.max_source_positions
    return torch.zeros(settings.batch, config.num_mel_bins, frames, dtype=settings.weight_dtype)
