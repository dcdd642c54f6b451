# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { 'model.save_pretrained(whole)' = 'model.model.save_pretrained(whole)' }
# ///
"""A checkpoint of the inner model has no head: loading goes on with random weights and prints a report. Save the whole model, and look at missing_keys."""

import logging
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification

report = []
logging.getLogger("transformers.modeling_utils").addFilter(
    lambda record: report.append(record.getMessage())
)
checkpoint = "HuggingFaceTB/SmolLM2-135M"
model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3)
trained = model.score.weight.detach().clone()
folder = tempfile.TemporaryDirectory()
inner, whole = Path(folder.name, "inner"), Path(folder.name, "whole")


def load(path):
    report.clear()
    loaded, info = AutoModelForSequenceClassification.from_pretrained(
        path, num_labels=3, output_loading_info=True
    )
    return loaded, sorted(info["missing_keys"])


model.model.save_pretrained(inner)  # without the head
loaded, missing = load(inner)
print(missing)
assert missing == ["score.weight"], missing
text = "those params were newly initialized because missing from the checkpoint"
assert any(text in each for each in report), report
assert not torch.equal(loaded.score.weight, trained)

# --8<-- [start:cure]
model.save_pretrained(whole)
loaded, missing = load(whole)
# --8<-- [end:cure]
assert not missing, missing
assert torch.equal(loaded.score.weight, trained)
assert not report, "a report although nothing is missing"
