"""Print the bytes of the KV cache that transformers makes for each recorded shape, without allocating them.

The argument is a JSON list of names of files in checks/facts/models/, with tokens. Each model runs on the meta device.
"""

import json
import logging
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import yaml  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

SHAPES = Path(__file__).parents[2] / "checks/facts/models"
EAGER = {"gemma2", "gpt_oss"}  # SDPA does not support their logit caps and sinks


def cached(name: str, tokens: int) -> int:
    """Return the bytes of keys and values after a forward pass of one sequence in bf16."""
    shape = yaml.safe_load((SHAPES / f"{name}.yml").read_text(encoding="utf-8"))["config"]
    config = AutoConfig.for_model(**shape)
    with torch.device("meta"):
        attention = "eager" if config.model_type in EAGER else "sdpa"
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation=attention)
        ids = torch.zeros(1, tokens, dtype=torch.long)
        layers = model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values.layers
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([cached(name, tokens) for name, tokens in json.loads(sys.argv[1])]))
