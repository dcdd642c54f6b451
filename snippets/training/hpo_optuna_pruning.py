# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "pruner=optuna.pruners.MedianPruner(n_startup_trials=3)" = "pruner=optuna.pruners.NopPruner()" }
# ///
"""A pruner stops trials whose validation loss is above the median of finished trials at the same step, and reaches the same best trial with fewer steps."""

import math
from statistics import median

import optuna
import torch
from datasets import Dataset
from transformers import (
    AutoModelForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

checkpoint = "openai-community/gpt2"
starts = torch.randint(0, 40, (48, 1), generator=torch.Generator().manual_seed(0))
rows = ((starts + torch.arange(24)) % 50).tolist()  # a pattern that can be learned
tokens = [{"input_ids": row, "labels": row} for row in rows]
train, validation = Dataset.from_list(tokens[:32]), Dataset.from_list(tokens[32:])
steps, trials = [], []  # trials: the losses of each one by step
judged = []  # the rows of the newest evaluation


class CountSteps(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        trials.append({})

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        trials[-1][state.global_step] = metrics["eval_loss"]
        judged[:] = kwargs["eval_dataloader"].dataset["input_ids"]

    def on_step_end(self, args, state, control, **kwargs):
        steps.append(state.global_step)


# --8<-- [start:enable]
trainer = Trainer(
    model_init=lambda: AutoModelForCausalLM.from_pretrained(checkpoint),
    args=TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=16,
        eval_strategy="steps",  # a trial can be pruned after each evaluation
        eval_steps=4,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=train,
    eval_dataset=validation,
    callbacks=[CountSteps()],
)


def search(pruner):
    return trainer.hyperparameter_search(
        hp_space=lambda trial: {
            "learning_rate": trial.suggest_float(
                "learning_rate", 1e-5, 3e-2, log=True
            )
        },
        direction="minimize",
        backend="optuna",
        n_trials=8,
        sampler=optuna.samplers.RandomSampler(seed=0),
        pruner=pruner,
    )


best = search(pruner=optuna.pruners.MedianPruner(n_startup_trials=3))
# --8<-- [end:enable]

pruned, steps[:] = len(steps), []
searched, trials[:] = list(trials), []
whole = search(optuna.pruners.NopPruner())
print(
    f"{pruned} steps with the pruner, {len(steps)} without; best {best.objective:.3f} and {whole.objective:.3f}"
)


def ends_by_median(trials) -> list[int]:
    """Return the step at which the rule ends each of these whole trials."""
    finished, ends = [], []
    for losses in trials:
        best = math.inf
        for step, loss in losses.items():
            best = min(best, loss)
            if len(finished) >= 3 and best > median(
                each[step] for each in finished
            ):
                break
        else:
            finished.append(losses)
        ends.append(step)
    return ends


lasts = [max(losses) for losses in searched]
assert lasts == ends_by_median(trials), f"the median ends others than {lasts}"
assert judged == rows[32:], "the losses are not those of the validation rows"
assert len(steps) == 8 * 16, f"{len(steps)} steps without a pruner"
assert best.hyperparameters == whole.hyperparameters, "the best trial was pruned"
assert abs(best.objective - whole.objective) < 1e-4
assert pruned <= 0.8 * len(steps), f"{pruned} of {len(steps)} steps ran"
