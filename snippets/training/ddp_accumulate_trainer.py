# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "gradient_accumulation_steps=4" = "gradient_accumulation_steps=1" }
# ///
"""With four gradient accumulation steps, the Trainer runs four forward passes per rank and sends the bytes of all gradients once."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from datasets import Dataset
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "Qwen/Qwen3-0.6B"
rows = torch.randint(0, 100, (16, 16), generator=torch.Generator().manual_seed(0))
tokens = Dataset.from_list([{"input_ids": r, "labels": r} for r in rows.tolist()])
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=2,
    gradient_accumulation_steps=4,
    ddp_find_unused_parameters=False,
    max_steps=1,
    save_strategy="no",
    report_to="none",
    use_cpu=not torch.accelerator.is_available(),
)
# --8<-- [end:enable]
trainer = Trainer(model, arguments, train_dataset=tokens)


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


forwards = []
model.register_forward_hook(lambda *_: forwards.append(1))

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    trainer.train()
gradients = sum(p.nbytes for p in model.parameters())
print(len(forwards), "forward passes,", sum(payloads.sent) / gradients, end=" ")
print("times the gradients' bytes")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list[-2:]]

assert arguments.world_size == dist.get_world_size() == 2
assert trainer.state.global_step == 1
assert sum(payloads.sent) == gradients, f"sent {sum(payloads.sent)} of {gradients}"
assert len(forwards) == 4, f"{len(forwards)} forward passes"
lines = ["4 forward passes, 1.0", "times the gradients' bytes"]
assert shown == lines, f"printed was {shown}"
