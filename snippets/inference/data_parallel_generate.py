# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15"]
#
# [tool.headroom]
# models = ["HuggingFaceTB/SmolLM2-135M"]
# launch = "torchrun --nproc-per-node 2"
# ablation = { "with state.split_between_processes(prompts) as mine:" = "for mine in [prompts]:" }
# ///
"""One copy of the model per process, and each generates for its share of the prompts: what to do if the model fits one GPU."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from accelerate import PartialState
from accelerate.utils import gather_object
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

checkpoint = "HuggingFaceTB/SmolLM2-135M"
prompts = ["One", "Two and a bit", "Three", "Four words in here", "Five"]

to = patch.object(
    PreTrainedModel, "to", autospec=True, side_effect=PreTrainedModel.to
).start()
# --8<-- [start:enable]
state = PartialState(cpu=not torch.cuda.is_available())
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
model.to(state.device)

answers = []
with state.split_between_processes(prompts) as mine:
    for prompt in mine:
        inputs = tokenizer(prompt, return_tensors="pt").to(state.device)
        output = model.generate(**inputs, max_new_tokens=8, do_sample=False)
        answers.append(tokenizer.decode(output[0]))
every = gather_object(answers)
# --8<-- [end:enable]
if state.is_main_process:
    print(f"{len(answers)} answers on this rank, {len(every)} in all")

assert state.num_processes == 2
assert model.dtype == torch.float32, f"the page says fp32, not {model.dtype}"
to.assert_called_once_with(model, state.device)  # without it, it stays on the CPU
assert len(answers) == (3 if state.is_main_process else 2), len(answers)
assert len(every) == len(prompts)
for prompt, answer in zip(prompts, every, strict=True):
    inputs = tokenizer(prompt, return_tensors="pt")
    alone = model.generate(**inputs, max_new_tokens=8, do_sample=False)
    assert answer == tokenizer.decode(alone[0]), prompt
dist.destroy_process_group()
