# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["Qwen/Qwen3-0.6B"]
# ablation = { "total = sums.sum(axis=0)" = "total = (sums[:, :1] / sums[:, 1:]).mean(axis=0).tolist() + [1]" }
# ///
"""On several ranks, sums of losses and labels per sample give the loss per token; the eval_loss of the Trainer can exceed the loss of every single sample."""

from unittest.mock import patch

import torch
import torch.distributed as dist
from datasets import Dataset
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

checkpoint = "Qwen/Qwen3-0.6B"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
counts = (1, 40, 2, 30, 1, 20, 3, 50, 1, 5, 2)
texts = ["One line. " * n if n < 5 else "x 7 ? " * n for n in counts]
tokens = Dataset.from_list(
    [{"input_ids": tokenizer(t)["input_ids"]} for t in texts]
)
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
arguments = TrainingArguments(
    output_dir="out",
    per_device_eval_batch_size=2,
    report_to="none",
    use_cpu=not torch.accelerator.is_available(),
)


# --8<-- [start:enable]
def per_sample(logits, labels):
    """Return the sum of losses and the number of labels of each sample."""
    targets = labels[:, 1:]
    losses = nn.functional.cross_entropy(
        logits[:, :-1].transpose(1, 2).float(), targets, reduction="none"
    )
    return torch.stack([losses.sum(1), (targets != -100).sum(1)], dim=1)


def loss_per_token(results):
    sums = results.predictions  # of all ranks, each sample once
    total = sums.sum(axis=0)
    return {"loss_per_token": total[0] / total[1], "samples": len(sums)}


trainer = Trainer(
    model,
    arguments,
    eval_dataset=tokens,
    data_collator=collator,
    preprocess_logits_for_metrics=per_sample,
    compute_metrics=loss_per_token,
)
metrics = trainer.evaluate()
# --8<-- [end:enable]

# One process, to compare with: the loss of all tokens, and of each sample.
with torch.no_grad():
    whole = model(**collator(list(tokens)).to(model.device)).loss.item()
    alone = [model(**collator([t]).to(model.device)).loss.item() for t in tokens]

# Logits in bf16, as under autocast: the sums are those of the same logits in fp32.
logits = torch.randn(
    2, 64, 512, generator=torch.Generator().manual_seed(0)
).bfloat16()
labels = torch.arange(128).reshape(2, 64)
half, single = per_sample(logits, labels), per_sample(logits.float(), labels)
assert torch.equal(half, single), "losses of bf16 logits are summed in bf16"

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print(f"{metrics['eval_samples']} samples of {len(tokens)}")
print(f"eval_loss {metrics['eval_loss']:.4f}", end=", ")
print(f"loss per token {metrics['eval_loss_per_token']:.4f}")
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

print(f"one process, one batch: {whole:.4f}")
print(f"losses of single samples: {min(alone):.4f} to {max(alone):.4f}")
assert arguments.world_size == dist.get_world_size() == 2
assert metrics["eval_samples"] == 11, f"{metrics['eval_samples']} samples"
apart = abs(metrics["eval_loss_per_token"] - whole)
assert apart < 1e-3 * abs(sum(alone) / 11 - whole), f"{apart:.1e} from one process"
assert shown == [
    f"{len(counts)} samples of {len(counts)}",
    f"eval_loss {metrics['eval_loss']:.4f}",
    f"loss per token {metrics['eval_loss_per_token']:.4f}",
], f"printed was {shown}"
# The Trainer scales each rank's loss to the labels of all ranks, and then drops a copy of the last rank's loss.
assert metrics["eval_loss"] > max(alone), "eval_loss is an average by now"
