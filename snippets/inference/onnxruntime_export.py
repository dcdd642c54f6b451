# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "onnxruntime>=1.32", "onnx>=1.23", "onnxscript>=0.7", "numpy>=2.4"]
#
# [tool.headroom]
# environment = "onnx"
# models = ["HuggingFaceTB/SmolLM2-135M"]
# timeout = 180
# ablation = { "(batch, length)" = "None" }
# ///
"""Export a model to ONNX with a free batch and length, and run it with ONNX Runtime: the logits of PyTorch, for shapes that the export did not see."""

import logging
import warnings

import numpy as np
import onnxruntime
import torch
from transformers import AutoModelForCausalLM

# The exporter itself copies deprecated classes, and names operators of torchvision, which is not installed.
warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
logging.getLogger("torch.onnx").setLevel(logging.ERROR)
logging.getLogger().setLevel(logging.ERROR)

model = AutoModelForCausalLM.from_pretrained(
    "HuggingFaceTB/SmolLM2-135M", dtype=torch.float32
)
model.train()  # as after a training


# --8<-- [start:enable]
class Logits(torch.nn.Module):
    """A model that takes one tensor and returns one."""

    def __init__(self, model):
        """Wrap a causal language model."""
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        """Return the logits of every token."""
        return self.model(input_ids=input_ids, use_cache=False).logits


batch, length = torch.export.Dim("batch"), torch.export.Dim("length")
torch.onnx.export(
    Logits(model).eval(),
    (torch.ones(2, 32, dtype=torch.long),),  # a batch of 1 would stay 1
    "model.onnx",
    dynamo=True,
    dynamic_shapes=[(batch, length)],
    input_names=["input_ids"],
    output_names=["logits"],
)

session = onnxruntime.InferenceSession("model.onnx")
(logits,) = session.run(["logits"], {"input_ids": np.ones((2, 32), dtype=np.int64)})
# --8<-- [end:enable]

# The proof: another batch and length, with the logits of PyTorch.
assert not model.training, "the export has the dropout of training"
shape = session.get_inputs()[0].shape
assert all(isinstance(size, str) for size in shape), shape
tokens = np.arange(3 * 20).reshape(3, 20)
(logits,) = session.run(["logits"], {"input_ids": tokens})
with torch.inference_mode():
    expected = model(input_ids=torch.from_numpy(tokens)).logits.numpy()
difference = np.linalg.norm(logits - expected) / np.linalg.norm(expected)
print(f"logits {logits.shape}, relative difference from PyTorch {difference:.0e}")
assert logits.shape == expected.shape, logits.shape
assert difference < 1e-4, difference
