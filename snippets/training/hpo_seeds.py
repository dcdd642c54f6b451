# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "    set_seed(trial.suggest_categorical(\"seed\", [1, 2, 3]))\n" = "    trial and trial.suggest_categorical(\"seed\", [1, 2, 3])\n" }
# ///
"""The Trainer applies a trial's seed after it has built the trial's model: only model_init can give each trial its own initial weights."""

import optuna
import torch
from datasets import Dataset
from transformers import (
    AutoModelForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

checkpoint = "openai-community/gpt2"
rows = torch.randint(0, 100, (16, 8), generator=torch.Generator().manual_seed(0))
train = Dataset.from_list(
    [{"input_ids": row, "labels": row[0] % 2} for row in rows.tolist()]
)
settings = {
    "output_dir": "out",
    "per_device_train_batch_size": 4,
    "max_steps": 2,
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
}


def classifier():
    return AutoModelForSequenceClassification.from_pretrained(
        checkpoint, num_labels=2, pad_token_id=0
    )


# --8<-- [start:enable]
def new_model(trial):  # the head of the classifier is new, and random
    if trial is None:  # while the Trainer is built
        return classifier()
    set_seed(trial.suggest_categorical("seed", [1, 2, 3]))
    return classifier()


def search_space(trial):
    return {
        "seed": trial.suggest_categorical("seed", [1, 2, 3])
    }  # also the order of the data


# --8<-- [end:enable]
heads = []


class Note(TrainerCallback):
    def on_train_begin(self, args, state, control, model, **kwargs):
        heads.append((args.seed, round(model.score.weight.sum().item(), 6)))


def search(model_init):
    heads.clear()
    trainer = Trainer(
        model_init=model_init,
        args=TrainingArguments(**settings),
        train_dataset=train,
        eval_dataset=train,
        callbacks=[Note()],
    )
    sampler = optuna.samplers.GridSampler({"seed": [1, 2, 3]}, seed=0)
    trainer.hyperparameter_search(
        hp_space=search_space, backend="optuna", n_trials=3, sampler=sampler
    )
    return list(heads)


def head_of(seed):
    set_seed(seed)
    return round(classifier().score.weight.sum().item(), 6)


own = {seed: head_of(seed) for seed in (1, 2, 3, 42)}
plain = search(classifier)
print("seed in hp_space only, each trial's weights have the seed", end=" ")
print(
    [
        next(seed for seed, head in own.items() if head == found)
        for _, found in plain
    ]
)
assert [seed for seed, _ in plain] != [
    next(s for s, h in own.items() if h == f) for _, f in plain
]
seeded = search(new_model)
print("seeds of the trials:", [seed for seed, _ in seeded])
assert sorted(seed for seed, _ in seeded) == [1, 2, 3]
for seed, head in seeded:
    assert head == own[seed], f"the trial with seed {seed} has other weights"
