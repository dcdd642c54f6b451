# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["openai-community/gpt2"]
# timeout = 180
# ablation = { "pruner=optuna.pruners.NopPruner()" = "pruner=optuna.pruners.MedianPruner(n_startup_trials=1)" }
# ///
"""Under torchrun, hyperparameter_search gives all ranks the settings that rank 0 draws. It hangs as soon as a pruner stops a trial, because only rank 0 stops."""

from datetime import timedelta

import optuna
import torch
import torch.distributed as dist
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    Trainer,
    TrainingArguments,
)

checkpoint = "openai-community/gpt2"
starts = torch.randint(0, 40, (48, 1), generator=torch.Generator().manual_seed(0))
rows = ((starts + torch.arange(24)) % 50).tolist()  # a pattern that can be learned
tokens = [{"input_ids": row, "labels": row} for row in rows]
train, validation = Dataset.from_list(tokens[:32]), Dataset.from_list(tokens[32:])
optuna.logging.set_verbosity(optuna.logging.WARNING)
settings = {
    "output_dir": "out",
    "per_device_train_batch_size": 4,
    "max_steps": 8,
    "eval_strategy": "steps",
    "eval_steps": 2,
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
    "use_cpu": not torch.accelerator.is_available(),
}
dist.init_process_group(
    "gloo" if settings["use_cpu"] else "nccl", timeout=timedelta(seconds=20)
)


trainer = Trainer(
    model_init=lambda: AutoModelForCausalLM.from_pretrained(checkpoint),
    args=TrainingArguments(**settings),
    train_dataset=train,
    eval_dataset=validation,
)
used = []
apply = trainer._hp_search_setup  # noqa: SLF001 - what a rank really trains with


def note(trial):
    apply(trial)
    used.append(trainer.args.learning_rate)


trainer._hp_search_setup = note  # noqa: SLF001 - as above
failure = best = None
try:
    # --8<-- [start:enable]
    best = trainer.hyperparameter_search(
        hp_space=lambda trial: {
            "learning_rate": trial.suggest_categorical(
                "learning_rate", [3e-3, 1e-5]
            )
        },
        direction="minimize",
        backend="optuna",
        n_trials=2,
        sampler=optuna.samplers.GridSampler(
            {"learning_rate": [3e-3, 1e-5]}, seed=1
        ),
        pruner=optuna.pruners.NopPruner(),  # the default, MedianPruner, hangs in DDP
    )
    # --8<-- [end:enable]
    everyone = [None, None]
    dist.all_gather_object(everyone, (used, best is not None))
except RuntimeError as error:  # a rank waited in vain for the other one
    failure = str(error).splitlines()[0]
assert failure is None, f"the ranks do not agree: {failure}"
if dist.get_rank() == 0:
    print(f"rates on rank 0: {everyone[0][0]}, on rank 1: {everyone[1][0]}")
    assert best.hyperparameters == {"learning_rate": 3e-3}, best
assert everyone == [([3e-3, 1e-5], True), ([3e-3, 1e-5], False)], everyone
