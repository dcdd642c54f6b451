# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "optuna>=5.0"]
#
# [tool.headroom]
# launch = "torchrun --nproc-per-node 2"
# models = ["openai-community/gpt2"]
# timeout = 180
# ablation = { "if from_rank_0(judge):" = "if dist.get_rank() == 0 and judge():" }
# ///
"""In DDP, rank 0 asks Optuna and decides about pruning, and broadcasts both, so that all ranks stop a trial at the same step."""

from datetime import timedelta

import optuna
import torch
import torch.distributed as dist
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


# --8<-- [start:enable]
def from_rank_0(make):
    """Call a function on rank 0, and return its result on every rank."""
    decision = [make() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(decision, src=0)
    return decision[0]


class PruneOnAllRanks(TrainerCallback):
    def __init__(self, trial):
        self.trial, self.pruned, self.loss = trial, False, None

    def on_evaluate(self, args, state, control, metrics, **kwargs):
        self.loss = metrics["eval_loss"]

        def judge():
            self.trial.report(self.loss, state.global_step)
            return self.trial.should_prune()

        if from_rank_0(judge):
            self.pruned = control.should_training_stop = True


study = None
if dist.get_rank() == 0:
    study = optuna.create_study(
        pruner=optuna.pruners.MedianPruner(n_startup_trials=1)
    )
    for rate in (3e-3, 1e-5):  # without this, the sampler draws
        study.enqueue_trial({"learning_rate": rate})


def run_trial():
    trial = study.ask() if study else None
    rate = from_rank_0(
        lambda: trial.suggest_categorical("learning_rate", [3e-3, 1e-5])
    )
    prune = PruneOnAllRanks(trial)
    trainer = Trainer(
        AutoModelForCausalLM.from_pretrained(checkpoint),
        TrainingArguments(learning_rate=rate, **settings),
        train_dataset=train,
        eval_dataset=validation,
        callbacks=[prune],
    )
    trainer.train()
    if study and prune.pruned:
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
    elif study:
        study.tell(trial, prune.loss)
    return rate, trainer.state.global_step


# --8<-- [end:enable]
failure = None
try:
    trials = [run_trial() for _ in range(2)]
    everyone = [None, None]
    dist.all_gather_object(everyone, trials)
except RuntimeError as error:  # a rank waited in vain for the other one
    failure = str(error).splitlines()[0]
assert failure is None, f"the ranks do not agree: {failure}"
if dist.get_rank() == 0:
    states = [trial.state.name for trial in study.trials]
    print(
        f"rates and steps on rank 0: {everyone[0]}, on rank 1: {everyone[1]}; {states}"
    )
    assert states == ["COMPLETE", "PRUNED"], states
    drawn = [t.number for t in study.trials if "fixed_params" not in t.system_attrs]
    assert not drawn, f"the sampler drew the trials {drawn}"
    whole, pruned = (trial.intermediate_values for trial in study.trials)
    assert max(whole) == 8, f"the trials report at steps {[*whole]}, {[*pruned]}"
    assert [*pruned] == [2], f"the trials report at steps {[*whole]}, {[*pruned]}"
    assert study.best_value == whole[8], "the value is not the last validation loss"
assert everyone[0] == everyone[1], everyone
assert everyone[0] == [(3e-3, 8), (1e-5, 2)], everyone
