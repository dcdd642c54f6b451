"""Write the number of parameters of each model on stdin, built by transformers without memory for its weights.

A child of test_model_shapes.py, so that the tests' own process imports no torch. The input is a JSON object: for each
name the transformers class and the config. The output has for each name the number of parameters, and the fields that
neither the configuration nor the code of the model knows.
"""

import json
import re
import sys
from pathlib import Path

import torch
import transformers


def code_of(config: transformers.PretrainedConfig) -> str:
    """Return the source code of a model, with its configuration."""
    file = sys.modules[type(config).__module__].__file__
    assert file
    return "\n".join(path.read_text("utf-8") for path in Path(file).parent.glob("*.py"))


def counted(architecture: str, fields: dict) -> dict:
    """Return the number of parameters of a model, and the fields that its code does not know."""
    config = transformers.AutoConfig.for_model(**fields)
    with torch.device("meta"):
        model = getattr(transformers, architecture)._from_config(config)
    code, default = code_of(config), type(config)()
    unknown = [name for name in fields if not hasattr(default, name) and not re.search(rf"\b{name}\b", code)]
    return {"parameters": sum(each.numel() for each in model.parameters()), "unknown": unknown}


if __name__ == "__main__":
    json.dump({name: counted(**shape) for name, shape in json.load(sys.stdin).items()}, sys.stdout)
