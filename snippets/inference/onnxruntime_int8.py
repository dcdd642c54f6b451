# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "onnxruntime>=1.32", "onnx>=1.23", "onnxscript>=0.7", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "onnx"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "quantize_dynamic(\"model.onnx\", \"int8.onnx\", weight_type=QuantType.QInt8)" = "Path(\"int8.onnx\").write_bytes(Path(\"model.onnx\").read_bytes())" }
# ///
"""ONNX Runtime quantizes the weights of an exported model to int8, and its activations as they come: a smaller file, and logits that differ by some percent."""

import logging
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForCausalLM

# The exporter itself copies deprecated classes, and names operators of torchvision, which is not installed.
warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
logging.getLogger("torch.onnx").setLevel(logging.ERROR)
logging.getLogger().setLevel(logging.ERROR)


class Logits(torch.nn.Module):
    """A model that takes one tensor and returns one."""

    def __init__(self, model):
        """Wrap a causal language model."""
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        """Return the logits of every token."""
        return self.model(input_ids=input_ids, use_cache=False).logits


model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
tokens = torch.arange(2 * 32).reshape(2, 32)
torch.onnx.export(
    Logits(model).eval(),
    (tokens,),
    "model.onnx",
    dynamo=True,
    verbose=False,
    external_data=False,
    input_names=["input_ids"],
    output_names=["logits"],
)
# --8<-- [start:enable]
quantize_dynamic("model.onnx", "int8.onnx", weight_type=QuantType.QInt8)
# --8<-- [end:enable]


def logits(path: str) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"input_ids": tokens.numpy()})[0]


graph = onnx.load("int8.onnx").graph
kinds = {node.op_type for node in graph.node}
types = {each.name: each.data_type for each in graph.initializer}
weights = [
    types[node.input[1]] for node in graph.node if node.op_type == "MatMulInteger"
]
before, after = (Path(name).stat().st_size for name in ("model.onnx", "int8.onnx"))
exact, rounded = logits("model.onnx"), logits("int8.onnx")
error = np.linalg.norm(rounded - exact) / np.linalg.norm(exact)
print(
    f"{before:,} bytes, then {after:,}; relative difference of the logits {error:.3f}"
)
assert {"MatMulInteger", "DynamicQuantizeLinear"} <= kinds, kinds
assert len(weights) > 0, "no matmul has a stored weight"
assert set(weights) == {onnx.TensorProto.INT8}, set(weights)
assert after < 0.7 * before, (before, after)
assert 0 < error < 0.1, error
