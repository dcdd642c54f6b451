# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "if trial is not None:" = "if False:" }
# ///
"""A model_init that drops the Trainer's previous model keeps one model in memory when a trial starts, and not two."""

import weakref

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
rows = torch.randint(0, 50, (16, 16), generator=torch.Generator().manual_seed(0))
tokens = Dataset.from_list(
    [{"input_ids": row, "labels": row} for row in rows.tolist()]
)
models = []  # references to the weights of all models
held = []  # how many models had weights in memory at each move to the device


class Counting(Trainer):
    """A Trainer that counts the models in memory when it moves one to the device."""

    def _move_model_to_device(self, model, device):
        models.append([weakref.ref(weight) for weight in model.parameters()])
        alive = [any(weight() is not None for weight in found) for found in models]
        held.append(sum(alive))
        super()._move_model_to_device(model, device)


# --8<-- [start:enable]
def new_model(trial=None):
    if trial is not None:  # drop the previous model before this one is loaded
        trainer.model = trainer.model_wrapped = None
        handler = trainer.callback_handler  # the schedule holds the optimizer, too
        handler.model = handler.optimizer = handler.lr_scheduler = None
    return AutoModelForCausalLM.from_pretrained(checkpoint)


# --8<-- [end:enable]


arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    max_steps=2,
    eval_strategy="steps",
    eval_steps=2,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
data = {"train_dataset": tokens, "eval_dataset": tokens}


def search(trainer):
    """Search with three trials."""
    return trainer.hyperparameter_search(
        hp_space=lambda trial: {
            "learning_rate": trial.suggest_float("learning_rate", 1e-5, 1e-3)
        },
        direction="minimize",
        backend="optuna",
        n_trials=3,
    )


trainer = Counting(model_init=new_model, args=arguments, **data)
best = search(trainer)
ours = held.copy()
models.clear()
held.clear()
search(
    Counting(
        model_init=lambda: AutoModelForCausalLM.from_pretrained(checkpoint),
        args=arguments,
        **data,
    )
)
print(f"models at the start of each trial: {ours[1:]}, and without this {held[1:]}")
assert ours == [1, 1, 1, 1], f"the Trainer held {ours} models"
assert held == [1, 2, 2, 2], f"the Trainer drops the previous model itself: {held}"
assert 0 < best.objective < 12
