# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { "reward_funcs=brevity" = "reward_funcs=lambda **given: [0.0 * reward for reward in brevity(**given)]" }
# ///
"""GRPOTrainer samples a group of completions per prompt, and the mean reward of the completions rises over the steps."""

import warnings
from unittest.mock import patch

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

# TRL 1.16 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

prompts = Dataset.from_dict({"prompt": ["Count to three.", "Name a colour."] * 64})
seen = []  # every reward, in the order of generation


# --8<-- [start:enable]
def brevity(completions, **_):  # returns one number per completion
    rewards = [-float(len(text)) for text in completions]
    seen.extend(rewards)
    return rewards


trainer = GRPOTrainer(
    model="Qwen/Qwen3-0.6B",
    reward_funcs=brevity,
    train_dataset=prompts,  # needs the column "prompt"
    args=GRPOConfig(
        output_dir="out",
        num_generations=8,  # the group: completions per prompt
        per_device_train_batch_size=16,  # counts completions: 2 prompts here
        max_completion_length=16,
        learning_rate=5e-3,  # for the tests' tiny model; the default is 1e-6
        max_steps=20,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        bf16=torch.cuda.is_available(),
    ),
)
trainer.train()
# --8<-- [end:enable]

per_step = [sum(seen[at : at + 16]) / 16 for at in range(0, len(seen), 16)]
# A loss may also be negative: with the signs turned, the check must find the same.
for entry in trainer.state.log_history:
    if "loss" in entry:
        entry["loss"] *= -1
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
log = [entry for entry in trainer.state.log_history if "reward" in entry]
print("mean reward of the first step:", log[0]["reward"])
print("mean reward of the last step:", log[-1]["reward"])
print("largest loss:", max(abs(entry["loss"]) for entry in log))
print("completions cut at the limit:", log[-1]["completions/clipped_ratio"])
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert len(per_step) == len(log) == 20, (len(per_step), len(log))
assert [entry["reward"] for entry in log] == per_step, (
    "a step does not take 16 completions"
)
history = [entry for entry in trainer.state.log_history if "reward" in entry]
losses = [abs(entry["loss"]) for entry in history]
assert min(losses) < max(losses) == -min(entry["loss"] for entry in history)
assert shown == [
    f"mean reward of the first step: {per_step[0]}",
    f"mean reward of the last step: {per_step[19]}",
    f"largest loss: {max(losses)}",
    f"completions cut at the limit: {history[19]['completions/clipped_ratio']}",
], f"printed was {shown}"
assert trainer.num_generations == 8, "a group has another size"
assert max(seen) <= 0, "a longer completion has a larger reward"
first, last = sum(per_step[:5]) / 5, sum(per_step[-5:]) / 5
assert last > first + 10, f"the reward went from {first} to {last}"
assert all(entry["frac_reward_zero_std"] == 0 for entry in log), (
    "a group has no spread"
)
# The loss says nothing: where all completions have one length, their advantages sum to 0.
equal = [
    e for e in log if e["completions/min_length"] == e["completions/max_length"]
]
assert len(equal) > 3, "completions differ in length"
assert all(abs(entry["loss"]) < 1e-5 < entry["grad_norm"] for entry in equal), equal
