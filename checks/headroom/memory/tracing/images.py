"""Make the images of a traced batch as a processor returns them: pixels, grids, image tokens and their marks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from headroom.memory.tracing.models import TraceSettings

Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class ImageFamily:
    """How a family of vision-language models takes images."""

    tokens: Callable[[Any, TraceSettings], int]
    """Return the tokens of one image."""
    pixels: Callable[[Any, TraceSettings, int], Inputs]
    """Return the tensors of a number of images."""
    types: str
    """The name of the input that marks image tokens with 1, empty if there is none."""


def _grid(config: Any, settings: TraceSettings) -> tuple[int, int]:
    """Return the rows and columns of patches, rounded to whole tokens as the processor does."""
    if not settings.image_size:
        raise ValueError(f"{config.model_type}: takes images of any size; add --image-size WxH, such as 1024x768")
    vision = config.vision_config
    side = vision.patch_size * vision.spatial_merge_size
    rows, columns = (vision.spatial_merge_size * max(1, round(n / side)) for n in reversed(settings.image_size))
    return rows, columns


def _tokens_of_grid(config: Any, settings: TraceSettings) -> int:
    rows, columns = _grid(config, settings)
    return int(rows * columns // config.vision_config.spatial_merge_size**2)


def _patches(config: Any, settings: TraceSettings, images: int) -> Inputs:
    """Return flattened patches and the grid of each image, as the processors of Qwen's models do."""
    if settings.attention == "flash":
        fault = f"{config.model_type}: --attention flash attends to all images in one call, which is not traced"
        raise ValueError(f"{fault} with images; take --attention sdpa")
    rows, columns = _grid(config, settings)
    vision = config.vision_config
    channels = getattr(vision, "in_channels", None) or vision.in_chans
    values = channels * vision.temporal_patch_size * vision.patch_size**2
    return {
        "pixel_values": torch.zeros(images * rows * columns, values, dtype=torch.float32),
        "image_grid_thw": torch.tensor([[1, rows, columns]] * images),
    }


def _side(config: Any, settings: TraceSettings) -> int:
    """Return the side of the square to which the processor resizes each image."""
    side = int(config.vision_config.image_size)
    if settings.image_size not in (None, (side, side)):
        fault = f"{config.model_type}: the processor resizes each image to {side}x{side} pixels"
        raise ValueError(f"{fault}; leave --image-size out")
    return side


def _square(config: Any, settings: TraceSettings, images: int) -> Inputs:
    side = _side(config, settings)
    channels = getattr(config.vision_config, "num_channels", 3)
    return {"pixel_values": torch.zeros(images, channels, side, side, dtype=torch.float32)}


def _tokens_of_patches(config: Any, settings: TraceSettings) -> int:
    """Return a token per patch, and one for the class token where the model keeps it."""
    patches = (_side(config, settings) // config.vision_config.patch_size) ** 2
    return int(patches + (getattr(config, "vision_feature_select_strategy", "default") == "full"))


_QWEN = ImageFamily(_tokens_of_grid, _patches, "mm_token_type_ids")
_FAMILIES: Mapping[str, ImageFamily] = {
    "qwen2_vl": _QWEN,
    "qwen2_5_vl": _QWEN,
    "qwen3_vl": _QWEN,
    "qwen3_vl_moe": _QWEN,
    "llava": ImageFamily(_tokens_of_patches, _square, ""),
    "gemma3": ImageFamily(lambda config, _: int(config.mm_tokens_per_image), _square, "token_type_ids"),
}


def image_tokens(config: Any, settings: TraceSettings) -> int:
    """Return the tokens that the images of a sequence have.

    Raises:
        ValueError: images of this architecture are not traced, or their size is missing or impossible.
    """
    return settings.images * _family(config).tokens(config, settings)


def _family(config: Any) -> ImageFamily:
    family = _FAMILIES.get(config.model_type)
    if family is None:
        fault = f"{config.model_type}: images are not traced for this architecture, only for {', '.join(_FAMILIES)}"
        raise ValueError(f"{fault}; leave --images out, or run a step on a GPU and read its peak")
    return family


def image_inputs(config: Any, settings: TraceSettings, ids: torch.Tensor) -> Inputs:
    """Return the token ids of a batch with images at the start of each sequence, and the inputs that images need.

    A text token follows each image, as in a processor's sequences; two images in a row would count as one.

    Args:
        config: the configuration of a vision-language model.
        settings: the job, with the number of images of a sequence and their size.
        ids: token ids of text.

    Raises:
        ValueError: the architecture or the job takes no images here, or the sequence is too short for them.
    """
    if settings.images < 0:
        raise ValueError(f"--images {settings.images}: take 0 or more")
    if settings.job == "decode":
        raise ValueError("--images: a decode step reads no images; count their tokens in --context")
    family, tokens = _family(config), image_tokens(config, settings)
    least = tokens + settings.images
    if settings.length < least:
        fault = f"--length {settings.length}: the images of a sequence have {tokens} tokens, and text follows each"
        raise ValueError(f"{fault}; take --length {least} or more")
    places = torch.arange(settings.length)
    of_images = (places < least) & (places % (least // settings.images) != tokens // settings.images)
    marks = of_images.long().expand(settings.batch, -1).contiguous()
    batch = {"input_ids": ids.masked_fill(marks.bool(), config.image_token_id)}
    batch |= family.pixels(config, settings, settings.images * settings.batch)
    return batch | ({family.types: marks} if family.types else {})
