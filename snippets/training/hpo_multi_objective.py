# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "direction=[\"minimize\", \"minimize\"]" = "direction=\"minimize\"", "    return metrics[\"eval_loss\"], trainer.args.max_steps" = "    return metrics[\"eval_loss\"]" }
# ///
"""With two objectives, hyperparameter_search returns all trials that no other trial beats in both, and prunes none."""

import optuna
import torch
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
settings = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    eval_strategy="steps",
    eval_steps=2,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
grid = {"learning_rate": [1e-5, 3e-3], "max_steps": [2, 4, 8]}


# --8<-- [start:enable]
def objectives(metrics):  # the validation loss, and the steps that it took
    return metrics["eval_loss"], trainer.args.max_steps


trainer = Trainer(
    model_init=lambda: AutoModelForCausalLM.from_pretrained(checkpoint),
    args=settings,
    train_dataset=train,
    eval_dataset=validation,
)
front = trainer.hyperparameter_search(
    hp_space=lambda trial: {
        "learning_rate": trial.suggest_categorical("learning_rate", [1e-5, 3e-3]),
        "max_steps": trial.suggest_categorical("max_steps", [2, 4, 8]),
    },
    compute_objective=objectives,
    direction=["minimize", "minimize"],
    backend="optuna",
    n_trials=6,
    sampler=optuna.samplers.GridSampler(grid, seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=1),  # has no effect here
    storage="sqlite:///search.db",
    study_name="two",
)
# --8<-- [end:enable]
assert isinstance(front, list), "one direction gives one best trial"
study = optuna.load_study(study_name="two", storage="sqlite:///search.db")
every = [trial.values for trial in study.trials]
for run in front:
    print(
        f"trial {run.run_id}: loss {run.objective[0]:.3f}, {run.objective[1]:.0f} steps"
    )


def beaten(point):
    return any(
        each != point and all(a <= b for a, b in zip(each, point, strict=True))
        for each in every
    )


assert [t.state.name for t in study.trials] == ["COMPLETE"] * 6, (
    "a trial was pruned"
)
assert 1 < len(front) < 6, f"{len(front)} of 6 trials"
assert sorted(run.objective for run in front) == sorted(
    p for p in every if not beaten(p)
)
assert {run.objective[1] for run in front} <= set(grid["max_steps"]), "not steps"
assert len({run.objective[1] for run in front}) > 1, "all have the same steps"
