# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "ddp_find_unused_parameters=False" = "ddp_find_unused_parameters=None" }
# ///
"""Under torchrun, the Trainer gives each rank its own batch, and sends nothing but the bytes of all gradients once per step without the search for unused parameters."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from datasets import Dataset
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "Qwen/Qwen3-0.6B"
rows = torch.randint(0, 100, (8, 16), generator=torch.Generator().manual_seed(0))
tokens = Dataset.from_list([{"input_ids": r, "labels": r} for r in rows.tolist()])
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=2,  # per GPU
    ddp_find_unused_parameters=False,
    max_steps=2,
    save_strategy="no",
    report_to="none",
    use_cpu=not torch.accelerator.is_available(),
)
trainer = Trainer(model, arguments, train_dataset=tokens)
# --8<-- [end:enable]


class Payloads(TorchDispatchMode):
    """Note the bytes of each all-reduce."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.c10d.allreduce_.default:
            self.sent.append(sum(tensor.nbytes for tensor in args[0]))
        return func(*args, **(kwargs or {}))


seen = []
model.register_forward_pre_hook(
    lambda _, args, kwargs: seen.append(kwargs["input_ids"]), with_kwargs=True
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
with Payloads() as payloads:  # notes the bytes of each all-reduce
    trainer.train()
print(f"{arguments.world_size} ranks,", type(trainer.model_wrapped).__name__)
gradients = sum(p.nbytes for p in model.parameters())
print(sum(payloads.sent) / gradients, "times the gradients' bytes in 2 steps")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list[-2:]]

assert arguments.world_size == dist.get_world_size() == 2
assert isinstance(trainer.model_wrapped, DistributedDataParallel)
own = torch.stack(seen)
assert own.shape == (2, 2, 16), "not two batches of two sequences"
ranks = [torch.empty_like(own) for _ in range(2)]
dist.all_gather(ranks, own)
batches = {tuple(row.tolist()) for rank in ranks for row in rank.reshape(-1, 16)}
assert len(batches) == 8, f"{len(batches)} different sequences on both ranks"
norms = torch.stack([p.detach().double().norm() for p in model.parameters()])
ranks = [torch.empty_like(norms) for _ in range(2)]
dist.all_gather(ranks, norms)
assert ranks[0].equal(ranks[1]), "the ranks' weights differ"
extra = sum(payloads.sent) - 2 * gradients
assert extra == 0, f"{extra} bytes more than the gradients"
assert shown == [
    "2 ranks, DistributedDataParallel",
    "2.0 times the gradients' bytes in 2 steps",
], f"printed was {shown}"
