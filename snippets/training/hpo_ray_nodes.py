# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "transformers>=5.23,<6", "accelerate>=1.15", "ray>=2.60", "pandas>=3", "pyarrow>=26"]
#
# [tool.headroom]
# environment = "search"
# models = ["openai-community/gpt2"]
# timeout = 300
# ablation = { "ray.init(\"auto\", log_to_driver=False)" = "ray.init(\"local\", num_cpus=2, include_dashboard=False, log_to_driver=False)" }
# ///
"""A search that joins a Ray cluster of two nodes runs one trial on each, at the same time, and returns the best of both."""

import os
from pathlib import Path

import ray
import torch
from ray import tune
from ray.cluster_utils import Cluster
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

checkpoint = "openai-community/gpt2"
shared = Path("shared").resolve()  # a folder that all nodes reach
rows = (torch.arange(16).repeat(8, 1) % 50).tolist()
tokens = [{"input_ids": row, "labels": row} for row in rows]

# Two nodes of one CPU each on this machine, as `ray start` makes them on two machines.
cluster = Cluster(
    initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
)
cluster.add_node(num_cpus=1, node_ip_address="127.0.0.2")
os.environ["RAY_ADDRESS"] = cluster.address


# --8<-- [start:enable]
def new_model():
    return AutoModelForCausalLM.from_pretrained(checkpoint)


trainer = Trainer(
    model_init=new_model,
    args=TrainingArguments(
        output_dir="out", max_steps=4, report_to="none", disable_tqdm=True
    ),
    train_dataset=tokens,
    eval_dataset=tokens,
)
ray.init("auto", log_to_driver=False)  # joins the cluster of this machine
best = trainer.hyperparameter_search(
    hp_space=lambda _: {"learning_rate": tune.grid_search([1e-3, 1e-5])},
    backend="ray",
    n_trials=1,  # times the grid
    resources_per_trial={"cpu": 1},  # on a GPU, add "gpu": 1
    storage_path=str(shared),  # all nodes must reach it
)
places = {t.last_result["node_ip"] for t in best.run_summary.trials}
print(f"{len(places)} nodes ran trials")
# --8<-- [end:enable]
results = {
    t.config["learning_rate"]: t.last_result for t in best.run_summary.trials
}
ray.shutdown()
cluster.shutdown()
assert places == {"127.0.0.1", "127.0.0.2"}, f"trials ran on {places} only"
first_end = min(r["timestamp"] for r in results.values())
last_start = max(r["timestamp"] - r["time_total_s"] for r in results.values())
assert last_start < first_end, "the trials ran one after the other"
assert results[1e-3]["objective"] < results[1e-5]["objective"]
assert best.hyperparameters == {"learning_rate": 1e-3}
assert best.objective == results[1e-3]["objective"], "not the best of both nodes"
