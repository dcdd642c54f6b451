# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { "main = train([passed, brief])" = "main = train([passed])" }
# ///
"""A second, graded reward gives a gradient to groups in which every completion fails; without it, the gradient is zero."""

import warnings
from unittest.mock import patch

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

# TRL 1.16 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

rows = {"prompt": ["2 + 2 =", "3 + 4 ="] * 8, "answer": ["4", "7"] * 8}
given, used = {}, {}  # by completion: its reward and group, and TRL's advantage


# --8<-- [start:enable]
def passed(completions, answer, **_):  # a column of the dataset
    return [
        float(text.strip() == a)
        for text, a in zip(completions, answer, strict=True)
    ]


def brief(completions, **_):  # graded: differs within a group
    return [-0.01 * len(text) for text in completions]


# --8<-- [end:enable]


def recorded(reward):
    """Return the reward function, which also keeps each completion's reward."""

    def call(completion_ids, **inputs):
        rewards = reward(completion_ids=completion_ids, **inputs)
        for at, (ids, r) in enumerate(zip(completion_ids, rewards, strict=True)):
            given.setdefault((at, *ids), []).append(r)
        return rewards

    call.__name__ = reward.__name__
    return call


class Watched(GRPOTrainer):
    """The trainer, which keeps the advantages that reach the loss."""

    def compute_loss(self, model, inputs, *args, **keywords):
        lengths = inputs["completion_mask"].sum(1).tolist()
        for ids, n, a in zip(
            inputs["completion_ids"], lengths, inputs["advantages"], strict=True
        ):
            used[tuple(ids[:n].tolist())] = a.item()
        return super().compute_loss(model, inputs, *args, **keywords)


def train(rewards):
    """Train one step; return the trainer and how far its weights moved."""
    given.clear()
    used.clear()
    trainer = Watched(
        model="Qwen/Qwen3-0.6B",
        reward_funcs=[recorded(reward) for reward in rewards],
        train_dataset=Dataset.from_dict(rows),
        args=GRPOConfig(
            output_dir="out",
            num_generations=4,
            per_device_train_batch_size=8,
            max_completion_length=8,
            learning_rate=1e-3,
            max_steps=1,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            bf16=torch.cuda.is_available(),
        ),
    )
    before = [w.detach().clone() for w in trainer.model.parameters()]
    trainer.remove_callback(PrinterCallback)  # prints every entry of the log
    trainer.train()
    moved = max(
        (w - b).abs().max().item()
        for w, b in zip(trainer.model.parameters(), before, strict=True)
    )
    return trainer.state.log_history[0], moved


main = train([passed, brief])
rewards = {key: sum(parts) for key, parts in given.items()}
log, moved = main
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print("groups without a spread of rewards:", log["frac_reward_zero_std"])
print("gradient norm:", log["grad_norm"])
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert log["frac_reward_zero_std"] == 0, "a group has no spread"
assert log["grad_norm"] > 0.01, "there is no gradient"
assert shown == [
    "groups without a spread of rewards: 0.0",
    f"gradient norm: {log['grad_norm']}",
], f"printed was {shown}"
assert moved > 1e-5, "the weights did not move"

# The first reward knows a right answer, and the second one prefers the shorter.
graded = passed(completions=[" 4", "5", "44"], answer=["4", "7", "4"])
assert graded == [1.0, 0.0, 0.0], graded
shorter, longer = brief(completions=["4", "four"])
assert shorter > longer, "the longer completion has the larger reward"

# TRL's advantages are those of the formula, group by group.
assert len(rewards) == len(used) == 8, (len(rewards), len(used))
for first in (0, 4):
    group = {
        key[1:]: r for key, r in rewards.items() if first <= key[0] < first + 4
    }
    values = torch.tensor(list(group.values()))
    for ids, r in group.items():
        by_hand = (r - values.mean()) / (values.std() + 1e-4)
        assert abs(by_hand - used[ids]) < 1e-3, (by_hand, used[ids])

# With the reward that all completions fail, the step generates and trains nothing.
log, moved = train([passed])
assert all(r == 0 for parts in given.values() for r in parts), "a completion passed"
assert log["frac_reward_zero_std"] == 1
assert log["grad_norm"] == 0, log["grad_norm"]
assert moved == 0, f"the weights moved by {moved}"
