# /// script
# requires-python = ">=3.11"
# dependencies = ["optuna>=5.0"]
#
# [tool.headroom]
# timeout = 120
# ablation = { "study_name=\"shared\", storage=storage, load_if_exists" = "study_name=\"shared\", storage=None, load_if_exists" }
# ///
"""Two processes that open the same study share its trials: one of them runs each trial, and each sees the trials of both."""

import multiprocessing
import os
import time

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

optuna.logging.set_verbosity(optuna.logging.WARNING)


context = multiprocessing.get_context("fork")
together, begun = context.Barrier(2), []


def objective(trial):
    trial.set_user_attr("process", os.getpid())
    if not begun:  # both processes have a trial before one of them ends its first
        begun.append(trial.number)
        together.wait(50)
    time.sleep(0.05)  # stands for a training
    if trial.number in (3, 4, 5):
        raise optuna.TrialPruned
    return (
        trial.suggest_float("learning_rate", 1e-5, 1e-1, log=True) * 1e3 - 1
    ) ** 2


# --8<-- [start:enable]
def worker():  # the same script on each GPU or machine; the file is on a shared disk
    storage = JournalStorage(JournalFileBackend("search.log"))
    study = optuna.create_study(
        study_name="shared", storage=storage, load_if_exists=True
    )
    whole = optuna.study.MaxTrialsCallback(
        12, states=None
    )  # 12 by all workers together
    study.optimize(objective, callbacks=[whole])
    # --8<-- [end:enable]
    return len(study.trials)


if __name__ == "__main__":
    with context.Pool(2) as pool:
        counts = [
            part.get(60) for part in [pool.apply_async(worker) for _ in range(2)]
        ]
    storage = JournalStorage(JournalFileBackend("search.log"))
    names = optuna.study.get_all_study_names(storage)
    assert names == ["shared"], "the workers share no study"
    study = optuna.load_study(study_name="shared", storage=storage)
    per_process = {}
    for trial in study.trials:
        name = trial.user_attrs.get("process")
        per_process[name] = per_process.get(name, 0) + 1
    print(f"{len(study.trials)} trials, {sorted(per_process.values())} per process")
    assert [trial.number for trial in study.trials] == list(
        range(len(study.trials))
    )
    assert len(per_process) == 2, "one process ran all trials"
    assert 12 <= len(study.trials) <= 13, counts  # pruned trials count, too
    assert min(counts) > max(per_process.values()), (
        f"a worker sees only its own trials: {counts}"
    )
