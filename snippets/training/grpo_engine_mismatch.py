# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11", "transformers>=5.23,<6", "accelerate>=1.15", "datasets>=5.2", "trl>=1.16"]
#
# [tool.headroom]
# models = ["Qwen/Qwen3-0.6B"]
# timeout = 120
# ablation = { 'correction": True' = 'correction": False' }
# ///
"""TRL logs how far the engine's log-probabilities are from the trainer's, and the importance-sampling correction bounds their ratio."""

import contextlib
import dataclasses
import io
import warnings

import torch
import trl.trainer.grpo_trainer as module
from datasets import Dataset
from transformers import AutoModelForCausalLM, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

# TRL 1.16 asks transformers for this by its old name.
warnings.filterwarnings("ignore", message=".*gradient_checkpointing")

prompts = Dataset.from_dict({"prompt": ["Count to three."] * 64})


class Engine:
    """Stands for vLLM: samples with a copy of the policy in its own data type, and returns each token's log-probability."""

    dtype, stale = torch.bfloat16, False

    def __init__(self, model, max_completion_length, **others):
        self.policy, self.length = model, max_completion_length
        self.copy = AutoModelForCausalLM.from_pretrained(
            model.name_or_path, dtype=self.dtype
        )
        self.copy.to(model.device)

    def sync_weights(self):
        if not self.stale:
            for mine, theirs in zip(
                self.copy.parameters(), self.policy.parameters(), strict=True
            ):
                mine.data.copy_(theirs.data)

    @torch.no_grad()
    def generate(self, prompts, images, num_generations, profiler=None):
        with profiler or contextlib.nullcontext():
            ids = torch.tensor(prompts, device=self.copy.device)
            out = self.copy.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=self.length,
                min_new_tokens=self.length,
                do_sample=True,
                top_k=0,
                top_p=1.0,
                temperature=1.0,
                output_logits=True,
                return_dict_in_generate=True,
            )
        tokens = out.sequences[:, ids.shape[1] :]
        scores = torch.stack(out.logits, 1).float().log_softmax(-1)
        picked = scores.gather(-1, tokens[..., None]).tolist()
        return prompts, tokens.tolist(), picked, None


module.VLLMGeneration = Engine


def brevity(completions, **_):
    return [-float(len(text)) for text in completions]


def train(dtype, *, stale, **settings):
    """Train a few steps; return the log."""
    Engine.dtype, Engine.stale = dtype, stale
    trainer = GRPOTrainer(
        model="Qwen/Qwen3-0.6B",
        reward_funcs=brevity,
        train_dataset=prompts,
        args=GRPOConfig(
            output_dir="out",
            use_vllm=True,
            learning_rate=2e-2,
            num_generations=8,
            per_device_train_batch_size=16,
            max_completion_length=16,
            max_steps=3,
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
    return [entry for entry in trainer.state.log_history if "reward" in entry]


# --8<-- [start:enable]
correction = {  # of GRPOConfig, for use_vllm=True
    "vllm_importance_sampling_correction": True,  # the default
    "vllm_importance_sampling_mode": "token_truncate",  # the default is "sequence_mask"
    "vllm_importance_sampling_clip_max": 2.0,  # the default is 3.0
}
# --8<-- [end:enable]
defaults = {field.name: field.default for field in dataclasses.fields(GRPOConfig)}
found = [defaults[name] for name in correction]
assert found == [True, "sequence_mask", 3.0], f"the defaults are {found}"
log = train(torch.bfloat16, stale=False, **correction)
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    # --8<-- [start:is-it-on]
    for entry in log:
        print(
            entry.get("sampling/sampling_logp_difference/mean"),
            entry.get("sampling/importance_sampling_ratio/max"),
        )
    # --8<-- [end:is-it-on]
print(printed.getvalue(), end="")
assert all("sampling/importance_sampling_ratio/max" in entry for entry in log), (
    "nothing is corrected"
)


def difference(log):
    return [entry["sampling/sampling_logp_difference/mean"] for entry in log]


def largest(log):
    return max(entry["sampling/importance_sampling_ratio/max"] for entry in log)


lines = [
    tuple(map(float, line.split())) for line in printed.getvalue().splitlines()
]
assert [line[0] for line in lines] == difference(log), "not the mean differences"
assert max(line[1] for line in lines) == largest(log), "not the largest ratios"

# In bfloat16, the same tokens have other log-probabilities than in float32, and the ratios stay near 1.
assert all(1e-4 < d < 1e-2 for d in difference(log)), difference(log)
assert largest(log) < 1.05, largest(log)

# An engine in the trainer's data type agrees up to float32's rounding.
same = train(torch.float32, stale=False, **correction)
assert max(difference(same)) < 1e-5, difference(same)

# An engine that misses the weight syncs is far off, and no ratio passes the bound; without a bound, some do.
missed = train(torch.bfloat16, stale=True, **correction)
print("after missed syncs:", difference(missed)[-1], largest(missed))
assert difference(missed)[-1] > 50 * difference(log)[-1], difference(missed)
assert largest(missed) == 2, largest(missed)
unbounded = train(
    torch.bfloat16,
    stale=True,
    **correction | {"vllm_importance_sampling_clip_max": 1e9},
)
assert largest(unbounded) > 2.5, largest(unbounded)

# By default, TRL sets the ratio of a whole completion to 0 if the product of its tokens' ratios is above 3.
default = train(torch.bfloat16, stale=True)
low = [entry["sampling/importance_sampling_ratio/min"] for entry in default]
assert min(low) == 0 < low[0], low
assert largest(default) <= 3, largest(default)
