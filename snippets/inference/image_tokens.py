# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# ablation = { "side = patch * merge" = "side = patch" }
# ///
"""Image tokens of Qwen2-VL by resolution: one per 28 × 28 pixels, up to the limit of the image processor. Counted against the features that the vision model returns and the resizing of transformers."""

import ast
import math
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import torch
from transformers import Qwen2VLConfig
from transformers.models.qwen2_vl.modeling_qwen2_vl import (
    Qwen2VisionTransformerPretrainedModel,
)

vision = Qwen2VLConfig().vision_config


printed = patch("builtins.print", wraps=print).start()


# --8<-- [start:count]
def image_tokens(height: int, width: int, longest: int = 28 * 28 * 1280) -> int:
    """Return the tokens of an image; `longest` is the processor's limit in pixels."""
    patch, merge = vision.patch_size, vision.spatial_merge_size
    side = patch * merge
    rows, columns = round(height / side), round(width / side)
    if rows * columns * side * side > longest:
        shrink = math.sqrt(height * width / longest)
        rows = max(1, math.floor(height / shrink / side))
        columns = max(1, math.floor(width / shrink / side))
    return rows * columns


for size in ((448, 448), (720, 1280), (1080, 1920), (2160, 3840)):
    print(f"{size[1]} × {size[0]}: {image_tokens(*size)} tokens")
# --8<-- [end:count]
shown = [call.args[0] for call in printed.call_args_list]

# The proof, first part: a vision model of the default patch and merge returns so many features.
small = {"depth": 1, "embed_dim": 32, "hidden_size": 32, "num_heads": 2}
config = type(vision)(**small)
assert (config.patch_size, config.spatial_merge_size) == (14, 2)
model = Qwen2VisionTransformerPretrainedModel(config).eval()
depth = config.in_channels * config.temporal_patch_size * config.patch_size**2
for height, width in ((448, 448), (84, 168), (224, 1120)):
    grid = (height // config.patch_size, width // config.patch_size)
    with torch.no_grad():
        features = model(
            torch.zeros(grid[0] * grid[1], depth),
            grid_thw=torch.tensor([[1, *grid]]),
        )
    assert features.pooler_output.shape[0] == image_tokens(height, width), grid

# Second part: the sizes of transformers' own resizing. Its module needs torchvision, so only this function is loaded.
package = Path(find_spec("transformers").origin).parent
source = (package / "models/qwen2_vl/image_processing_qwen2_vl.py").read_text()
function = next(
    node
    for node in ast.parse(source).body
    if isinstance(node, ast.FunctionDef) and node.name == "smart_resize"
)
names = {"math": math}
exec(ast.unparse(function), names)  # noqa: S102 - a function of the installed library
limit = names["smart_resize"].__defaults__[-1]  # max_pixels
assert image_tokens.__defaults__ == (limit,), f"the limit is {limit} pixels"
for size in (
    (448, 448),
    (720, 1280),
    (1080, 1920),
    (2160, 3840),
    (333, 777),
    (400, 790),
    (1024, 1366),
):
    resized = names["smart_resize"](*size, max_pixels=28 * 28 * 1280)
    assert image_tokens(*size) == resized[0] // 28 * (resized[1] // 28), size
assert shown == [
    "448 × 448: 256 tokens",
    "1280 × 720: 1196 tokens",
    "1920 × 1080: 1222 tokens",
    "3840 × 2160: 1222 tokens",
], f"printed was {shown}"
# The limit bounds the tokens of any image, and a lower one saves tokens.
assert image_tokens(2160, 3840) <= 1280 < round(2160 / 28) * round(3840 / 28)
assert image_tokens(1080, 1920, longest=28 * 28 * 256) <= 256
