# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "accelerate>=1.15", "ray>=2.60", "pandas>=3", "pyarrow>=26"]
#
# [tool.headroom]
# environment = "search"
# models = ["openai-community/gpt2"]
# timeout = 300
# ablation = { "grace_period=1" = "grace_period=4" }
# ///
"""With Ray Tune as the backend, ASHA ends trials that are worse than others after the same number of evaluations, and keeps the best one."""

from pathlib import Path

import ray
import torch
from ray import tune
from ray.tune.schedulers import ASHAScheduler
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
starts = torch.randint(0, 40, (24, 1), generator=torch.Generator().manual_seed(0))
rows = ((starts + torch.arange(16)) % 50).tolist()  # a pattern that can be learned
tokens = [{"input_ids": row, "labels": row} for row in rows]

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)


# --8<-- [start:enable]
def new_model():
    return AutoModelForCausalLM.from_pretrained(checkpoint)


trainer = Trainer(
    model_init=new_model,
    args=TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=8,
        max_steps=8,
        eval_strategy="steps",  # each evaluation is one iteration of Ray Tune
        eval_steps=2,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=tokens[:16],
    eval_dataset=tokens[16:],
)
best = trainer.hyperparameter_search(
    hp_space=lambda _: {"learning_rate": tune.grid_search([3e-3, 1e-5])},
    direction="minimize",
    backend="ray",
    n_trials=1,  # times the grid
    resources_per_trial={"cpu": 1},  # on a GPU, add "gpu": 1
    max_concurrent_trials=1,  # for our tests; leave it out to use all GPUs
    scheduler=ASHAScheduler(
        metric="objective", mode="min", max_t=4, grace_period=1, reduction_factor=2
    ),
    storage_path=str(Path("ray").resolve()),
    verbose=0,
)
# --8<-- [end:enable]

trials = best.run_summary.trials
iterations = {
    t.config["learning_rate"]: t.last_result["training_iteration"] for t in trials
}
print(f"evaluations per learning rate: {iterations}; best: {best.hyperparameters}")
assert [t.status for t in trials] == ["TERMINATED"] * 2
assert best.hyperparameters["learning_rate"] == 3e-3
assert iterations[3e-3] == 4, "ASHA ended the best trial"
assert sum(iterations.values()) < 8, "no trial ended early"
