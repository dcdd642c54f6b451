# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { '"num_iterations": 4' = '"num_iterations": 1' }
# ///
"""num_iterations trains several optimizer steps on the same completions: fewer generations, and a policy that has left them behind."""

import warnings
from unittest.mock import patch

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

# TRL 1.16 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

prompts = Dataset.from_dict({"prompt": ["Count to three.", "Name a colour."] * 64})
generations = []


def brevity(completions, **_):
    generations.append(len(completions))
    return [-float(len(text)) for text in completions]


def train(**settings):
    """Train eight optimizer steps; return the log."""
    generations.clear()
    trainer = GRPOTrainer(
        model="Qwen/Qwen3-0.6B",
        reward_funcs=brevity,
        train_dataset=prompts,
        args=GRPOConfig(
            output_dir="out",
            learning_rate=5e-4,
            num_generations=8,
            per_device_train_batch_size=16,
            max_completion_length=16,
            max_steps=8,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            bf16=torch.cuda.is_available(),
            **settings,
        ),
    )
    trainer.remove_callback(PrinterCallback)  # prints every entry of the log
    trainer.train()
    return [entry for entry in trainer.state.log_history if "grad_norm" in entry]


# --8<-- [start:enable]
reuse = {  # of GRPOConfig
    "num_iterations": 4,  # optimizer steps per completion; the default is 1
    "epsilon": 0.2,  # clips the ratio of new to old probability; the default
}
# --8<-- [end:enable]
log = train(**reuse)
printed = patch("builtins.print", wraps=print).start()
# --8<-- [start:is-it-on]
print("completions generated:", generations, "for", len(log), "optimizer steps")
for entry in log:
    print(
        entry["step"],
        f"{entry['clip_ratio/region_mean']:.0%} of the tokens clipped",
    )
# --8<-- [end:is-it-on]
shown = [" ".join(map(str, call.args)) for call in printed.call_args_list]
assert generations == [16, 16], generations
assert len(log) == 8


def clipped(log):
    return [entry["clip_ratio/region_mean"] for entry in log]


assert shown == [
    "completions generated: [16, 16] for 8 optimizer steps",
    *(
        f"{n} {part:.0%} of the tokens clipped"
        for n, part in enumerate(clipped(log), 1)
    ),
], f"printed was {shown}"
assert reuse["epsilon"] == GRPOConfig.epsilon == 0.2, "not the default"

# The first step on new completions is on-policy, and the later ones move away from it.
assert clipped(log)[0] == clipped(log)[4] == 0, clipped(log)
assert 0 < clipped(log)[1] < clipped(log)[3], clipped(log)
assert clipped(log)[7] > 0, clipped(log)

# By default, every optimizer step has completions of its own, and nothing is clipped.
plain = train()
assert generations == [16] * 8, generations
assert clipped(plain) == [0] * 8, clipped(plain)

# steps_per_generation generates more completions at once and uses each one once. It is off-policy, too.
wider = train(steps_per_generation=4)
assert generations == [64, 64], generations
assert clipped(wider)[0] == 0 < clipped(wider)[3], clipped(wider)
