# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# models = ["openai-community/gpt2"]
# timeout = 120
# ablation = { "    return AutoModelForCausalLM.from_pretrained(checkpoint)" = "    return loaded" }
# ///
"""hyperparameter_search trains a fresh model per trial, and the best trial is the one with the lowest validation loss."""

from unittest.mock import patch

import optuna
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
starts = torch.randint(0, 40, (48, 1), generator=torch.Generator().manual_seed(0))
rows = ((starts + torch.arange(24)) % 50).tolist()  # a pattern that can be learned
tokens = [{"input_ids": row, "labels": row} for row in rows]
train, validation = Dataset.from_list(tokens[:32]), Dataset.from_list(tokens[32:])
loaded = AutoModelForCausalLM.from_pretrained(checkpoint)


# --8<-- [start:enable]
def new_model():  # called once per trial
    return AutoModelForCausalLM.from_pretrained(checkpoint)


def search_space(trial):
    return {
        "learning_rate": trial.suggest_float("learning_rate", 1e-5, 3e-2, log=True)
    }


trainer = Trainer(
    model_init=new_model,
    args=TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=8,
        eval_strategy="steps",
        eval_steps=8,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=train,
    eval_dataset=validation,
)
best = trainer.hyperparameter_search(
    hp_space=search_space,
    compute_objective=lambda metrics: metrics["eval_loss"],
    direction="minimize",
    backend="optuna",
    n_trials=5,
    sampler=optuna.samplers.TPESampler(seed=0),  # goes to optuna.create_study
    storage="sqlite:///search.db",  # keeps the trials
    study_name="learning-rate",
)
# --8<-- [end:enable]

printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:trials]
study = optuna.load_study(study_name="learning-rate", storage="sqlite:///search.db")
for trial in study.trials:
    print(
        trial.number, f"{trial.params['learning_rate']:.1e}", f"{trial.value:.3f}"
    )
# --8<-- [end:trials]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]

values = [trial.value for trial in study.trials]
rates = [trial.params["learning_rate"] for trial in study.trials]
assert len(set(rates)) == len(study.trials) == 5, rates
assert shown == [
    f"{number} {rates[number]:.1e} {values[number]:.3f}" for number in range(5)
], f"printed was {shown}"
# The sampler, its seed and the logarithmic scale arrived in Optuna.
alike = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0)).ask()
assert rates[0] == alike.suggest_float("learning_rate", 1e-5, 3e-2, log=True), rates
assert best.objective == min(values), (best, values)
assert best.hyperparameters["learning_rate"] == rates[int(best.run_id)]
assert max(values) - min(values) > 0.1, "the learning rate changes nothing"
for number, rate in enumerate(rates):  # a trial's loss is that of a run of its own
    if number in (0, 4):
        alone = Trainer(
            model_init=new_model,
            args=TrainingArguments(
                output_dir="out",
                per_device_train_batch_size=8,
                max_steps=8,
                learning_rate=rate,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=train,
            eval_dataset=validation,
        )
        alone.train()
        loss = alone.evaluate()["eval_loss"]
        assert abs(loss - values[number]) < 1e-4, (
            f"trial {number}: {values[number]}, alone {loss}"
        )
