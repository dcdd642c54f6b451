# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "average_tokens_across_devices=True" = "average_tokens_across_devices=False" }
# ///
"""With average_tokens_across_devices, the Trainer weighs every label of every rank alike: the gradients are those of one large batch."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
texts = ["One line. " * count for count in (1, 40, 2, 60)]  # ranks take turns
tokens = Dataset.from_list(
    [{"input_ids": tokenizer(t)["input_ids"]} for t in texts]
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)

# What one batch of all sequences gives, to compare with.
device = "cuda" if torch.cuda.is_available() else "cpu"
model.to(device)(**collator(list(tokens)).to(device)).loss.backward()
large = [p.grad.clone() for p in model.parameters()]
model.zero_grad()
found = []


class KeepGradients(TrainerCallback):
    """Note the gradients just before the optimizer uses them."""

    def on_pre_optimizer_step(self, *_, model, **__):
        """What the Trainer calls then."""
        found[:] = [p.grad.clone() for p in model.parameters()]


# --8<-- [start:enable]
arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=1,
    gradient_accumulation_steps=2,
    average_tokens_across_devices=True,  # the default
    ddp_find_unused_parameters=False,
    max_steps=1,
    save_strategy="no",
    report_to="none",
    use_cpu=not torch.accelerator.is_available(),
)
# --8<-- [end:enable]
arguments.max_grad_norm = 0.0  # gradients as they are
arguments.train_sampling_strategy = "sequential"
trainer = Trainer(
    model,
    arguments,
    train_dataset=tokens,
    data_collator=collator,
    callbacks=[KeepGradients()],
)
labels = []
model.register_forward_pre_hook(
    lambda _, args, kwargs: labels.append((kwargs["labels"] != -100).sum()),
    with_kwargs=True,
)

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
trainer.train()
pairs = zip(found, large, strict=True)
apart = max(((a - b).norm() / b.norm()).item() for a, b in pairs)
print(f"rank {dist.get_rank()}: {sum(labels)} labels,", end=" ")
print(f"gradients differ by {apart:.1e} from those of one batch")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list[-2:]]

assert arguments.world_size == dist.get_world_size() == 2
assert trainer.state.global_step == 1
assert len(labels) == 2
own = torch.stack(labels).sum()
ranks = [torch.empty_like(own) for _ in range(2)]
dist.all_gather(ranks, own)
assert max(ranks) > 10 * min(ranks), f"{ranks}: the ranks have similar labels"
assert apart < 1e-4, f"the gradients differ by {apart:.1e} of their length"
rank = dist.get_rank()
count = sum(len(ids) for ids in tokens["input_ids"][rank::2])
pairs = zip(found, large, strict=True)
worst = max(float((a - b).norm() / b.norm()) for a, b in pairs)
assert shown == [
    f"rank {rank}: {count} labels,",
    f"gradients differ by {worst:.1e} from those of one batch",
], f"printed was {shown}"
