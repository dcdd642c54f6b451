# /// script
# requires-python = ">=3.11"
# dependencies = ["optuna>=5.0"]
#
# [tool.headroom]
# ablation = { "def search():\n    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))" = "def search():\n    study = optuna.create_study(sampler=optuna.samplers.TPESampler())" }
# ///
"""With a seed, Optuna's sampler proposes the same trials again, if the objective returns the same values and the trials run one after the other."""

import optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    rate = trial.suggest_float("learning_rate", 1e-5, 1e-1, log=True)
    decay = trial.suggest_float("weight_decay", 0.0, 0.3)
    return (rate * 1e3 - 1) ** 2 + decay  # stands for the validation loss


# --8<-- [start:enable]
def search():
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=15)
    return [trial.params for trial in study.trials]


# --8<-- [end:enable]
first, again = search(), search()


def noisy(trial):  # the same settings, another seed of the training: other values
    return objective(trial) * (1 + 0.5 * (trial.number % 2))


def trials_of(objective):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=15)
    return [trial.params for trial in study.trials]


other = trials_of(noisy)
same = sum(a == b for a, b in zip(first, other, strict=True))
print(
    f"same seed: {sum(a == b for a, b in zip(first, again, strict=True))} of 15 trials equal"
)
print(f"same seed, other losses: {same} of 15 trials equal")
assert 10 <= same < 15, (
    "the first ten are random, and the others depend on the losses"
)
assert first == trials_of(objective), "another sampler, or another number of trials"
assert first == again, "another search with the same seed has other trials"
