# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# ablation = { ', dtype=torch.float32)' = ')' }
# ///
"""from_pretrained() loads the type of the checkpoint since transformers 5; before, it loaded fp32. Say dtype=torch.float32 to train with fp32 weights."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import call, patch

import torch
from transformers import AutoConfig, AutoModelForCausalLM

checkpoint = "HuggingFaceTB/SmolLM2-135M"
load = patch.object(
    AutoModelForCausalLM,
    "from_pretrained",
    wraps=AutoModelForCausalLM.from_pretrained,
).start()
# --8<-- [start:enable]
as_saved = AutoModelForCausalLM.from_pretrained(checkpoint)
in_fp32 = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
# --8<-- [end:enable]
print(as_saved.dtype, in_fp32.dtype)
assert load.call_args_list[0] == call(checkpoint), load.call_args_list

assert AutoConfig.from_pretrained(checkpoint).dtype == torch.bfloat16
assert as_saved.dtype == torch.bfloat16
assert in_fp32.dtype == torch.float32

# The type in config.json decides. Without it, the first weight of the file does.
with TemporaryDirectory() as folder:
    as_saved.save_pretrained(folder)
    path = Path(folder) / "config.json"
    config = json.loads(path.read_text())
    for stated in ("float32", None):
        changed = {key: value for key, value in config.items() if key != "dtype"}
        changed |= {"dtype": stated} if stated else {}
        path.write_text(json.dumps(changed))
        loaded = AutoModelForCausalLM.from_pretrained(folder).dtype
        print(f"a bf16 file with {stated} in config.json loads {loaded}")
        assert loaded == (torch.float32 if stated else torch.bfloat16)
