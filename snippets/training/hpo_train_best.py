# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "    setattr(trainer.args, name, value)" = "    pass" }
# ///
"""After a search, the Trainer still has the last trial's settings: set those of the best trial before the final training."""

import optuna
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
starts = torch.randint(0, 40, (48, 1), generator=torch.Generator().manual_seed(0))
rows = ((starts + torch.arange(24)) % 50).tolist()  # a pattern that can be learned
tokens = [{"input_ids": row, "labels": row} for row in rows]
train, validation = Dataset.from_list(tokens[:32]), Dataset.from_list(tokens[32:])


def search_space(trial):
    return {
        "learning_rate": trial.suggest_categorical("learning_rate", [3e-3, 1e-5])
    }


trainer = Trainer(
    model_init=lambda: AutoModelForCausalLM.from_pretrained(checkpoint),
    args=TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=8,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=train,
    eval_dataset=validation,
)
best = trainer.hyperparameter_search(
    hp_space=search_space,
    direction="minimize",
    backend="optuna",
    n_trials=2,
    sampler=optuna.samplers.GridSampler({"learning_rate": [3e-3, 1e-5]}, seed=1),
)
left = trainer.args.learning_rate  # the last trial's

# --8<-- [start:enable]
for name, value in best.hyperparameters.items():
    setattr(trainer.args, name, value)
trainer.train()
# --8<-- [end:enable]

used = trainer.args.learning_rate
loss = trainer.evaluate()["eval_loss"]
print(
    f"best {best.hyperparameters}, left by the search: {left}, trained with: {used}"
)
assert best.hyperparameters == {"learning_rate": 3e-3}
assert left == 1e-5, "the last trial was the best one: this proves nothing"
assert used == 3e-3, f"trained with {used}"
assert abs(loss - best.objective) < 1e-4, (
    f"{loss}, and {best.objective} in the search"
)
